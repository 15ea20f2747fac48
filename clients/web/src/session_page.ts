import { SandbarError, Session, type RoleName } from "sandbar";
import { accountFor, connect, forget, ownName, takeFragment, type Fragment } from "./account.js";
import { button, fill } from "./dom.js";
import { PageFrame, begin, explain } from "./frame.js";
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

function refuse(frame: PageFrame, error: SandbarError): void {
	frame.stop(...explain(error), homeLink());
}

function homeLink(): HTMLElement {
	return button("All sessions", () => location.assign("/"));
}

async function main(): Promise<void> {
	const frame = new PageFrame();
	const fragment = takeFragment();
	addEventListener("hashchange", () => location.reload());
	try {
		await enter(frame, fragment);
	} catch (error) {
		if (error instanceof SandbarError) {
			forget(fragment, error);
			refuse(frame, error);
		} else {
			fill(frame.main);
			throw error;
		}
	}
}

begin(main);
