import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";
import { pagesNeed } from "./needs.js";
import { strictXterm } from "./strict_xterm.js";

const PACK_FROM_BYTES = 1024;

/** Beside each text file stands what the server sends of it to who understands gzip. */
export function packed(): Plugin {
	return {
		name: "packed",
		enforce: "post",
		generateBundle(_options, bundle) {
			for (const [fileName, file] of Object.entries(bundle)) {
				const source = file.type === "chunk" ? file.code : file.source;
				if (source.length >= PACK_FROM_BYTES && /\.(js|css|html|svg)$/.test(fileName)) {
					this.emitFile({
						type: "asset",
						fileName: `${fileName}.gz`,
						source: gzipSync(source, { level: 9 }),
					});
				}
			}
		},
	};
}

function page(name: string): string {
	return fileURLToPath(new URL(name, import.meta.url));
}

export default defineConfig({
	build: {
		outDir: process.env.SANDBAR_PAGES ?? "../../build/pages",
		emptyOutDir: true,
		target: "es2022",
		assetsInlineLimit: 0, // the policy of the pages allows nothing inside their text
		modulePreload: { polyfill: false },
		chunkSizeWarningLimit: 1000,
		rollupOptions: {
			input: Object.fromEntries(
				["index", "session", "replay", "embed"].map((name) => [name, page(`${name}.html`)]),
			),
		},
	},
	plugins: [pagesNeed(), strictXterm(), packed()],
});
