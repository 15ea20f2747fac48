import { Role, SandbarError, Session, SessionView, type Channel, type Connection, type RoleName } from "sandbar";
import { plain } from "../format.js";

/** A session as this page is in it: its channel, what is known of it, and who we are there. */
export class Room {
	readonly view: SessionView;

	constructor(
		readonly connection: Connection,
		readonly session: Session,
		readonly channel: Channel,
		/** Tell the person something. */
		readonly tell: (text: string) => void,
	) {
		this.view = new SessionView(channel);
	}

	get me(): number {
		return this.channel.participant;
	}

	is(role: RoleName): boolean {
		return Role[this.channel.role] >= Role[role];
	}

	/** How a participant is called on this page. */
	name(participant: number): string {
		const known = this.view.participants.get(participant);
		const name = plain(known?.name ?? `#${participant}`, 48);
		return participant === this.me ? `${name} (you)` : name;
	}

	/** Do it, and tell the person when it could not be done. */
	async attempt(what: () => Promise<unknown>): Promise<boolean> {
		try {
			await what();
			return true;
		} catch (error) {
			this.tell(error instanceof SandbarError ? plain(error.message, 300) : String(error));
			return false;
		}
	}
}
