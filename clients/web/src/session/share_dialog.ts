import type { RoleName, Share } from "sandbar";
import { encode } from "uqr";
import { openDialog } from "../dialog.js";
import { ICONS, button, fill, h, iconButton, select, squares } from "../dom.js";
import { tagAttributes, tagText } from "../embed/tag.js";
import { plain } from "../format.js";
import { FIRST_TIME, ROLES, TIMES, USES } from "../share_choices.js";
import { copy } from "../terminal/screen.js";
import type { Room } from "./room.js";

/** Make links into a session, list them, revoke them. */
export class ShareDialog {
	private role: RoleName = "viewer";
	private expiresMs = FIRST_TIME;
	private uses = 1;
	private readonly made = h("div", { class: "made", "aria-live": "polite" });
	private readonly list = h("ul", { class: "shares" });
	private readonly name = h("input", { id: "share-name", maxlength: 48, value: "guest" });

	constructor(private readonly room: Room) {}

	open(): void {
		const form = h(
			"form",
			{ class: "share-form", on: { submit: (event) => void this.make(event) } },
			h(
				"p",
				{},
				h("span", {}, "A link for"),
				select("For how many", USES, "1", (value) => (this.uses = Number(value))),
				select("What they may do", ROLES, "viewer", (value) => (this.role = value as RoleName)),
				select("How long", TIMES, String(FIRST_TIME), (value) => (this.expiresMs = Number(value))),
			),
			h("p", {}, h("label", { for: "share-name" }, "Shown to others as"), this.name),
			h("button", { class: "button primary" }, "Make a link"),
		);
		const close = h(
			"div",
			{ class: "dialog-actions" },
			button("Done", () => dialog.close()),
		);
		const lists = h("section", {}, h("h3", {}, "Links that were made"), this.list);
		const dialog = openDialog("Share this session", () => undefined, form, this.made, lists, close);
		dialog.classList.add("wide");
		void this.look();
	}

	private async make(event: SubmitEvent): Promise<void> {
		event.preventDefault();
		const { role, expiresMs, uses, room } = this;
		const name = this.name.value.trim() || "guest";
		await room.attempt(async () => {
			const { token } = await room.session.share({ role, expiresMs, uses, name });
			this.show(`${location.origin}/#${token}`, tagText(tagAttributes(room.session.id, token)));
		});
		await this.look();
	}

	private show(link: string, tag: string): void {
		const field = h("input", {
			readonly: true,
			value: link,
			"aria-label": "The link",
			class: "link",
			on: { focus: () => field.select() },
		});
		const copied = iconButton(
			ICONS.copy,
			"Copy",
			() =>
				void copy(link).then((isDone) => {
					if (isDone) {
						this.room.tell("The link is in your clipboard.");
					} else {
						field.select();
					}
				}),
			true,
		);
		const code = squares(encode(link, { border: 2 }).data, "The link as a QR code");
		fill(
			this.made,
			h("div", { class: "link-row" }, field, copied),
			h("div", { class: "qr" }, code),
			h("p", { class: "quiet" }, "It is shown this once. What stands behind # is not sent to any server's log."),
			h(
				"details",
				{},
				h("summary", {}, "Or put it into a page of yours"),
				h("pre", { class: "untrusted", id: "embed-tag", tabindex: 0 }, tag),
				h(
					"p",
					{ class: "quiet" },
					"The server must allow that page's origin: --allow-origin https://your.site",
				),
				h(
					"a",
					{ href: `/embed#session=${this.room.session.id}` },
					"A tag with a theme and a size, and a try of it",
				),
			),
		);
		field.focus();
	}

	private async look(): Promise<void> {
		await this.room.attempt(async () => {
			const shares = await this.room.session.shares();
			fill(
				this.list,
				...shares.map((share) => this.row(share)),
				shares.length === 0 && h("li", { class: "empty" }, "None yet."),
			);
		});
	}

	private row({ share, name, role, uses, used, expires_us: expires, open, revoked }: Share): HTMLElement {
		const until = expires === null ? "" : `, until ${new Date(expires / 1000).toLocaleString()}`;
		const state = revoked ? "revoked" : open ? "open" : used >= uses ? "used up" : "closed";
		return h(
			"li",
			{ "data-state": state },
			h("span", {}, `${plain(name, 48)} · ${role}`),
			h("span", { class: "quiet" }, `${used} of ${uses} came${until} · ${state}`),
			!revoked &&
				button(
					"Revoke",
					() => void this.room.attempt(() => this.room.session.unshare(share)).then(() => this.look()),
					"small danger",
				),
		);
	}
}
