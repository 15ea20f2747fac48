import type { Participant, RoleName } from "sandbar";
import { setOwnName, ownName } from "../account.js";
import { ask } from "../dialog.js";
import { ICONS, fill, h, iconButton, select } from "../dom.js";
import { plain } from "../format.js";
import type { Room } from "./room.js";

const ROLES: readonly (readonly [RoleName, string])[] = [
	["viewer", "viewer"],
	["editor", "editor"],
	["owner", "owner"],
];
const TYPING_MS = 1500;

/** Who is here, in which role, and who types just now. */
export class People {
	private readonly list = h("ul", { class: "people" });
	readonly element = h(
		"section",
		{ class: "panel-part", "aria-label": "People" },
		h("h2", {}, "People"),
		this.list,
		this.ownName(),
	);
	readonly faces = h("div", { class: "faces", "aria-hidden": "true" });
	private readonly rows = new Map<number, HTMLElement>();
	/** Who types, until when nothing more was heard of it for a while. */
	private readonly typing = new Map<number, ReturnType<typeof setTimeout>>();

	constructor(private readonly room: Room) {
		room.view.on("participants", () => this.draw());
		room.channel.on("typing", ({ participant }) => this.types(participant));
	}

	draw(): void {
		const people = [...this.room.view.participants.values()];
		this.rows.clear();
		people.forEach((person) => this.rows.set(person.participant, this.row(person)));
		people.forEach(({ participant }) => this.mark(participant));
		fill(this.list, ...this.rows.values());
		fill(
			this.faces,
			...people
				.slice(0, 6)
				.map(({ name, colour }) =>
					h("span", { class: "face", "data-colour": colour % 8 }, plain(name).slice(0, 1).toUpperCase()),
				),
			people.length > 6 && h("span", { class: "face" }, `+${people.length - 6}`),
		);
	}

	private row({ participant, role, colour, client }: Participant): HTMLElement {
		const { room } = this;
		const isMe = participant === room.me;
		return h(
			"li",
			{ class: "person" },
			h(
				"span",
				{ class: "face", "data-colour": colour % 8, "aria-hidden": "true" },
				room.name(participant).slice(0, 1).toUpperCase(),
			),
			h(
				"span",
				{ class: "person-name", title: plain(client, 64) },
				room.name(participant),
				h("span", { class: "quiet person-typing", hidden: true }, " types…"),
			),
			room.is("owner") && !isMe
				? select(`Role of ${room.name(participant)}`, ROLES, role, (value) => {
						void room
							.attempt(() => room.session.setRole(participant, value as RoleName))
							.then(() => this.draw());
					})
				: h("span", { class: "tag" }, role),
			room.is("owner") &&
				!isMe &&
				iconButton(ICONS.close, `Remove ${room.name(participant)}`, () => void this.remove(participant)),
		);
	}

	private async remove(participant: number): Promise<void> {
		const { room } = this;
		const told = h("p", {}, `${room.name(participant)} is cut off, and cannot come back by the same link.`);
		if (await ask("Remove from this session?", "Remove", told)) {
			await room.attempt(() => room.session.remove(participant));
		}
	}

	private types(participant: number): void {
		clearTimeout(this.typing.get(participant));
		const over = setTimeout(() => {
			this.typing.delete(participant);
			this.mark(participant);
		}, TYPING_MS);
		this.typing.set(participant, over);
		this.mark(participant);
	}

	/** In the row as it is: what is focused or open in it stays so. */
	private mark(participant: number): void {
		const row = this.rows.get(participant);
		const isTyping = this.typing.has(participant);
		row?.toggleAttribute("data-typing", isTyping);
		row?.querySelector(".person-typing")?.toggleAttribute("hidden", !isTyping);
	}

	private ownName(): HTMLElement {
		const input = h("input", { id: "own-name", maxlength: 48, value: ownName() ?? "", autocomplete: "nickname" });
		const keep = (event: Event): void => {
			event.preventDefault();
			setOwnName(input.value.trim());
			location.reload();
		};
		return h(
			"form",
			{ class: "own-name", on: { submit: keep } },
			h("label", { for: "own-name" }, "Your name here"),
			input,
			h("button", { class: "button small" }, "Change"),
		);
	}
}
