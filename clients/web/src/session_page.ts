import { Session, type RoleName } from "sandbar";
import { accountFor, connect, ownName, type Fragment } from "./account.js";
import type { PageFrame } from "./frame.js";
import { homeLink, openPage, refuse } from "./open_page.js";
import { Desk } from "./session/desk.js";
import { Room } from "./session/room.js";

/** Of a long session the newest is shown, and the rest is for the replay. */
const REPLAY_BYTES = 1024 * 1024;

/** Attach to the session of the address, and show it. */
async function enter(frame: PageFrame, fragment: Fragment): Promise<void> {
	const account = await accountFor(fragment);
	if (!fragment.session) {
		frame.stop("Which session?", "The address names none.", homeLink());
		return;
	}
	if (!account) {
		frame.stop("Who are you?", "This session was not shared with this browser. Ask for a link.", homeLink());
		return;
	}
	frame.wait("Session");
	const connection = await connect(account, (made) => frame.watch(made));
	const session = new Session(connection, fragment.session);
	const name = ownName();
	const role: { readonly role?: RoleName } = account.isSecond ? { role: "viewer" } : {};
	const channel = session.channel({
		after: 0,
		paced: true,
		replay: REPLAY_BYTES,
		...role,
		...(name ? { name } : {}),
	});
	const room = new Room(connection, session, channel, (text) => frame.toast(text));
	const desk = new Desk(frame, room);
	connection.on("state", ({ state, why }) => state === "given_up" && why && refuse(frame, why));
	channel.on("closed", ({ reason, error }) => {
		if (reason === "removed") {
			frame.stop("You were removed", "The owner of this session took your access back.", homeLink());
		} else if (error) {
			refuse(frame, error);
		} else if (reason === "session_ended") {
			desk.ended();
		}
	});
	await channel.open();
	await desk.begin();
	if (account.isSecond) {
		frame.toast("This link is open in another tab already: here you watch.");
	}
}

addEventListener("hashchange", () => location.reload());
openPage(enter);
