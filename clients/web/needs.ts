import { readFileSync } from "node:fs";
import type { Plugin } from "vite";

/** What says to an old browser what it lacks: FILE behind what is common to all. */
function textOf(file: string): string {
	return ["lacking", file]
		.map((name) => readFileSync(new URL(`needs/${name}.js`, import.meta.url), "utf8"))
		.join("\n");
}

/** Before anything of a page, and as a script of its own, so that no word of what follows is in its way. */
export function pagesNeed(): Plugin {
	return {
		name: "pages-need",
		transformIndexHtml: () => [
			{ tag: "script", attrs: { src: "/needs.js", defer: true }, injectTo: "head-prepend" },
		],
		generateBundle() {
			this.emitFile({ type: "asset", fileName: "needs.js", source: textOf("page") });
		},
	};
}

/** embed.js is one script, which a browser reads as a whole: nothing of it is run where something is lacking. */
export function embedNeeds(): Plugin {
	return {
		name: "embed-needs",
		enforce: "post",
		generateBundle(_options, bundle) {
			for (const file of Object.values(bundle)) {
				if (file.type === "chunk") {
					file.code = `(function () {\n${textOf("embed")}\nif (embedIsLacking()) return;\n${file.code}\n})();\n`;
				}
			}
		},
	};
}
