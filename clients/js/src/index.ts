/** The client for Node. */
import { randomBytes } from "node:crypto";
import WebSocket from "ws";
import { Connection as AnyConnection, type ConnectionOptions } from "./connection.js";
import { Sandbox } from "./sandbox.js";
import { Limit } from "./table.js";
import type { Dial } from "./transport.js";

export * from "./public.js";

const dial: Dial = (url, subprotocol) =>
	new WebSocket(url, subprotocol, { maxPayload: Limit.MESSAGE_BYTES, perMessageDeflate: false });

export class Connection extends AnyConnection {
	constructor(options: ConnectionOptions) {
		super({ clientId: randomBytes(16), ...options }, dial);
	}
}

Sandbox.connection = (options) => new Connection(options);
