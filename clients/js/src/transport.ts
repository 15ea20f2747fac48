/** What this client needs of a WebSocket; the browser's and that of the package `ws` both are one. */
export interface Socket {
	binaryType: string;
	readonly readyState: number;
	send(data: Uint8Array<ArrayBuffer>): void;
	close(code?: number, reason?: string): void;
	onopen: ((event: never) => void) | null;
	onmessage: ((event: never) => void) | null;
	onclose: ((event: never) => void) | null;
	onerror: ((event: never) => void) | null;
}

/** Opens a socket for the subprotocol. */
export type Dial = (url: string, subprotocol: string) => Socket;

export const SUBPROTOCOL = "sandbar.v1";
const PATH = "/v1/ws";
const SCHEMES: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" };

/** The address of a server's WebSocket: `http(s)` and `ws(s)` addresses and bare `host:port` will do. */
export function socketUrl(address: string): string {
	const url = new URL(address.includes("://") ? address : `ws://${address}`);
	const scheme = SCHEMES[url.protocol];
	if (!scheme) {
		throw new TypeError(`\`${url.protocol}\` is no scheme of a server: ws, wss, http and https are`);
	}
	return `${scheme}//${url.host}${url.pathname === "/" ? PATH : url.pathname}`;
}
