import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { embedNeeds } from "./needs.js";
import { strictXterm } from "./strict_xterm.js";
import { packed } from "./vite.config.js";

/** embed.js: one script for pages of others, without a module or a second file. */
export default defineConfig({
	publicDir: false,
	build: {
		outDir: process.env.SANDBAR_PAGES ?? "../../build/pages",
		emptyOutDir: false,
		target: "es2015", // so that an older browser can read it, and say what it lacks (needs.ts)
		chunkSizeWarningLimit: 1000,
		lib: {
			entry: fileURLToPath(new URL("src/embed/script.ts", import.meta.url)),
			formats: ["iife"],
			name: "SandbarEmbed",
			fileName: () => "embed.js",
		},
	},
	plugins: [strictXterm(), embedNeeds(), packed()],
});
