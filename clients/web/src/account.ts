import { Connection, SandbarError } from "sandbar";
import { claim, fromHex, randomId, tabId, toHex } from "./client_id.js";
import { lasting } from "./store.js";

/** The one right of a sign-in link (PROTOCOL.md §3.4, `token.redeem`): it is good for a token of the browser's own, once. */
const REDEEM = "redeem";
const CLIENT = "sandbar-web/0.1";

/** Who this page is: a token, and the id by which its input is known. */
export interface Account {
	readonly token: string;
	readonly clientId: Uint8Array;
	/** Another tab is this very client: this one must not type, or input would be confused. */
	readonly isSecond: boolean;
	/** The token is a sign-in link's. */
	readonly isLink?: boolean;
}

/** What the address says behind `#`: a token alone, as links have it, or `session=ID`. */
export interface Fragment {
	readonly session: string | null;
	readonly token: string | null;
	/** It is a sign-in link's. */
	readonly isLink: boolean;
}

/** A token is taken out of the address at once, so that it is in no history. */
export function takeFragment(): Fragment {
	const text = location.hash.slice(1);
	if (!text.includes(".")) {
		return { session: new URLSearchParams(text).get("session"), token: null, isLink: false };
	}
	const { ses, rights } = claimsOf(text);
	const session = ses ?? null;
	history.replaceState(null, "", location.pathname + (session ? `#session=${session}` : ""));
	return { session, token: text, isLink: rights?.includes(REDEEM) === true };
}

/** The account for FRAGMENT: a link's, that of a link which was opened here before, or the browser's own. */
export async function accountFor({ session, token, isLink }: Fragment): Promise<Account | null> {
	if (isLink && token) {
		return { token, clientId: await tabId("client"), isSecond: false, isLink };
	}
	const shareKey = session && `share.${session}`;
	if (shareKey && token) {
		lasting.set(shareKey, JSON.stringify({ token, client: toHex(randomId()) }));
	} else if (token) {
		lasting.set("token", token);
	}
	const own = lasting.get("token");
	const share = shareKey ? lasting.get(shareKey) : null;
	if (share && (token || !own)) {
		return shareAccount(share);
	}
	return own === null ? null : { token: own, clientId: await tabId("client"), isSecond: false };
}

/** Connect; by a link with the token that one gets by it. */
export async function connect(account: Account, watch: (connection: Connection) => void): Promise<Connection> {
	if (account.isLink) {
		lasting.set("token", await tokenBy(account, watch));
		return open({ ...account, token: lasting.get("token") ?? "" }, watch);
	}
	return open(account, watch);
}

async function open({ token, clientId }: Account, watch: (connection: Connection) => void): Promise<Connection> {
	const connection = new Connection({ url: location.origin, client: CLIENT, clientId, persist: true, token });
	watch(connection);
	await connection.open();
	return connection;
}

/** This browser's own token, for a link; where the link is not good (any more), the one that the browser has. */
async function tokenBy(link: Account, watch: (connection: Connection) => void): Promise<string> {
	try {
		const connection = await open(link, watch);
		const { token } = await connection.call("token.redeem");
		connection.close();
		return token as string;
	} catch (error) {
		const own = lasting.get("token");
		if (own !== null && error instanceof SandbarError && error.code === "unauthenticated") {
			return own;
		}
		throw error;
	}
}

/** Forget what was not good. */
export function forget({ session }: Fragment, error: SandbarError): void {
	if (error.code === "unauthenticated") {
		lasting.remove(session && lasting.get(`share.${session}`) !== null ? `share.${session}` : "token");
	}
}

/** What to call this person, for others to see. */
export function ownName(): string | undefined {
	return lasting.get("name") ?? undefined;
}

export function setOwnName(name: string): void {
	lasting.set("name", name.slice(0, 48));
}

/** A share is for a client id: it is kept with it, and only one tab at a time may be that client. */
async function shareAccount(stored: string): Promise<Account> {
	const { token, client } = JSON.parse(stored) as { token: string; client: string };
	return { token, clientId: fromHex(client), isSecond: !(await claim(client)) };
}

/** What a token says of itself, as far as a page needs it: the session that it is for, its rights. The server checks it. */
function claimsOf(token: string): { readonly ses?: string; readonly rights?: readonly string[] } {
	try {
		const text = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
		return JSON.parse(atob(text)) as ReturnType<typeof claimsOf>;
	} catch {
		return {};
	}
}
