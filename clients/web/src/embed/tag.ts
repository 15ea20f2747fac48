/** What a tag says of the terminal that it shows, beside the session and its token. */
export interface TagLook {
	readonly theme?: string;
	readonly height?: string;
	readonly isReadOnly?: boolean;
}

/** The attributes of the tag that shows SESSION in any page that the server allows. */
export function tagAttributes(
	session: string,
	token: string,
	look: TagLook = {},
): readonly (readonly [string, string])[] {
	return [
		["src", `${location.origin}/embed.js`],
		["data-session", session],
		["data-token", token],
		...(look.theme ? [["data-theme", look.theme] as const] : []),
		...(look.height ? [["data-height", look.height] as const] : []),
		...(look.isReadOnly ? [["data-readonly", ""] as const] : []),
	];
}

/** The tag as text, to be copied into a page. */
export function tagText(attributes: readonly (readonly [string, string])[]): string {
	const parts = attributes.map(([name, value]) => (value === "" ? name : `${name}="${escaped(value)}"`));
	return `<script ${parts.join(" ")}></script>`;
}

function escaped(value: string): string {
	return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
