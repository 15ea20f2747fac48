import { Terminal } from "@xterm/xterm";
import { h } from "../dom.js";
import { strictDocument, strictly } from "../terminal/strict_styles.js";
import { countColumns } from "../terminal/width.js";
import { SandbarAddon, type SandbarAddonOptions } from "./addon.js";

/** The very tag, as it would stand in a page. */
export function demoOfTag(place: HTMLElement, attributes: readonly (readonly [string, string])[]): void {
	place.replaceChildren(h("script", Object.fromEntries(attributes)));
}

/** An xterm.js of a page's own, into which the add-on is loaded. */
export function demoOfAddon(place: HTMLElement, options: SandbarAddonOptions): void {
	const terminal = new Terminal({ allowProposedApi: true, documentOverride: strictDocument(document), rows: 24 });
	countColumns(terminal);
	place.replaceChildren();
	strictly(document, () => terminal.open(place));
	terminal.textarea?.setAttribute("aria-label", "Terminal input");
	terminal.loadAddon(new SandbarAddon(options));
}

/** The lines that a page with an xterm.js needs. */
export function addonText({ url, session, token, isReadOnly }: SandbarAddonOptions): string {
	const told = { url, session, token, ...(isReadOnly ? { isReadOnly } : {}) };
	return [
		`<script src="${url}/embed.js"></script>`,
		"<script>",
		`\tterminal.loadAddon(new Sandbar.SandbarAddon(${JSON.stringify(told)}));`,
		"</script>",
	].join("\n");
}
