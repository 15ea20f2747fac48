/**
 * `<script src="https://HOST/embed.js" data-session="…" data-token="…"></script>`: a terminal where the tag stands.
 * Without `data-session` it only defines `<sandbar-terminal>` and `Sandbar.SandbarAddon`.
 */
import { SandbarAddon } from "./addon.js";
import { SandbarTerminal, setHome } from "./element.js";

const script = document.currentScript;
const PASSED_ON = ["session", "token", "process", "theme", "font-size", "font-family", "readonly"];

if (script instanceof HTMLScriptElement) {
	setHome(new URL(script.src).origin);
}
if (!customElements.get("sandbar-terminal")) {
	customElements.define("sandbar-terminal", SandbarTerminal);
}
Object.assign(globalThis, { Sandbar: { SandbarAddon, SandbarTerminal } });

if (script instanceof HTMLScriptElement && script.dataset.session) {
	const element = document.createElement("sandbar-terminal");
	for (const name of PASSED_ON) {
		const value = script.getAttribute(`data-${name}`);
		if (value !== null) {
			element.setAttribute(name, value);
		}
	}
	element.style.height = script.dataset.height ?? "24rem";
	script.after(element);
}
