/** The client for browsers, and for programs that have a WebSocket of their own. */
import { Connection as AnyConnection, type ConnectionOptions } from "./connection.js";
import { Sandbox } from "./sandbox.js";
import type { Dial } from "./transport.js";

export * from "./public.js";

const dial: Dial = (url, subprotocol) => new WebSocket(url, subprotocol);

export class Connection extends AnyConnection {
	constructor(options: ConnectionOptions) {
		super(options, dial);
	}
}

Sandbox.connection = (options) => new Connection(options);
