import type { Plugin } from "vite";

const MODULE = "/@xterm/xterm/lib/xterm.mjs";
const BY_ATTRIBUTE = /\b(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g;

/**
 * Where xterm.js draws without the graphics card, it gives a cell its colours by the attribute `style`, which a strict
 * policy forbids, and makes the cell by the page's own document, whatever `documentOverride` says. What a script sets of
 * a style is allowed and says the same. The build fails where a new version of xterm.js does this otherwise.
 */
export function strictXterm(): Plugin {
	return {
		name: "strict-xterm",
		transform(code, id) {
			if (!id.endsWith(MODULE)) {
				return null;
			}
			const places = code.match(BY_ATTRIBUTE)?.length ?? 0;
			if (places !== 1) {
				this.error(
					`xterm.js sets the attribute \`style\` of cells in ${places} places that are known, not in one`,
				);
			}
			return { code: code.replace(BY_ATTRIBUTE, "$1.style.cssText+=$2"), map: null };
		},
	};
}
