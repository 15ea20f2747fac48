import { fileURLToPath } from "node:url";
import js from "@eslint/js";
import typescript from "typescript-eslint";

export default typescript.config(
	{ ignores: ["**/node_modules/", "**/built/", "build/", "clients/js/src/table.ts"] },
	js.configs.recommended,
	{
		files: ["**/*.ts"],
		extends: [...typescript.configs.strictTypeChecked, ...typescript.configs.stylisticTypeChecked],
		languageOptions: {
			parserOptions: { projectService: true, tsconfigRootDir: fileURLToPath(new URL(".", import.meta.url)) },
		},
		rules: {
			"@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
			"@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
			eqeqeq: "error",
			"max-lines": ["error", 600],
			"max-lines-per-function": ["error", 60],
			"max-params": ["error", 5],
		},
	},
	{
		files: ["clients/web/needs/*.js"], // for browsers that are too old for the rest
		languageOptions: {
			ecmaVersion: 5,
			sourceType: "script",
			globals: {
				window: "readonly",
				document: "readonly",
				NEEDS: "readonly",
				lackingOf: "readonly",
			},
		},
		rules: { "no-unused-vars": "off", "no-redeclare": ["error", { builtinGlobals: false }] }, // see needs.ts
	},
	{ files: ["**/*.test.ts"], rules: { "@typescript-eslint/no-floating-promises": "off" } }, // test() and before()
	{
		files: ["**/*.mjs"],
		languageOptions: { globals: { console: "readonly", process: "readonly", URL: "readonly", Buffer: "readonly" } },
	},
);
