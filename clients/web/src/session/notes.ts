import type { Note } from "sandbar";
import { fill, h } from "../dom.js";
import { moment, plain } from "../format.js";
import type { Room } from "./room.js";

/** Texts pinned to moments. */
export class Notes {
	private readonly list = h("ol", { class: "notes" });
	private readonly input = h("input", { id: "note", maxlength: 250 });
	private readonly form = h(
		"form",
		{ class: "note-form", on: { submit: (event) => void this.pin(event) } },
		h("label", { for: "note" }, "A note to this moment"),
		this.input,
		h("button", { class: "button small" }, "Pin"),
	);
	readonly element = h(
		"section",
		{ class: "panel-part", "aria-label": "Notes" },
		h("h2", {}, "Notes"),
		this.list,
		this.form,
	);

	/** SHOW scrolls to a note; CURRENT is the process that is looked at. */
	constructor(
		private readonly room: Room,
		private readonly show: (note: Note) => void,
		private readonly current: () => number | undefined,
	) {
		room.view.on("notes", () => this.draw());
		room.view.on("participants", () => (this.form.hidden = !room.is("editor")));
		this.draw();
	}

	private draw(): void {
		const { notes } = this.room.view;
		fill(
			this.list,
			...notes.map((note) =>
				h(
					"li",
					{},
					h(
						"button",
						{ type: "button", class: "note", on: { click: () => this.show(note) } },
						h("span", { class: "note-text" }, plain(note.text, 1024)),
						h("span", { class: "quiet" }, `${moment(note.t)} · ${plain(note.by, 48)}`),
					),
				),
			),
			notes.length === 0 && h("li", { class: "empty" }, "None yet."),
		);
	}

	private async pin(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const text = this.input.value.trim();
		if (text && (await this.room.attempt(() => this.room.session.note(text, this.current())))) {
			this.input.value = "";
		}
	}
}
