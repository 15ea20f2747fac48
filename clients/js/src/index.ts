/** The client for Node. */
import WebSocket from "ws";
import { Connection as AnyConnection, type ConnectionOptions } from "./connection.js";
import { Sandbox } from "./sandbox.js";
import { Limit } from "./table.js";
import type { Dial } from "./transport.js";

export * from "./public.js";

const dial: Dial = (url, subprotocol) =>
	new WebSocket(url, subprotocol, { maxPayload: Limit.MESSAGE_BYTES, perMessageDeflate: false });
Sandbox.dial = dial;

export class Connection extends AnyConnection {
	constructor(options: ConnectionOptions) {
		super(options, dial);
	}
}
