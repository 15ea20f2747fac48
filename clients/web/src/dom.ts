/** Elements without any markup in texts: what a program or a person wrote can only become text. */

type Child = Node | string | number | null | undefined | false;
type Listener<Name extends keyof HTMLElementEventMap> = (event: HTMLElementEventMap[Name]) => void;

interface Attributes {
	readonly class?: string;
	readonly id?: string;
	readonly title?: string;
	readonly on?: { readonly [Name in keyof HTMLElementEventMap]?: Listener<Name> };
	/** Everything else, as attributes: `true` is an empty one, `false` and `undefined` none. */
	readonly [attribute: string]: unknown;
}

/** An element with attributes, listeners and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
	tag: Tag,
	attributes: Attributes = {},
	...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name === "on") {
			listen(element, value as NonNullable<Attributes["on"]>);
		} else if (value !== undefined && value !== false && value !== null) {
			element.setAttribute(name, (value === true ? "" : value) as string);
		}
	}
	element.append(...texts(children));
	return element;
}

/** Have ELEMENT hold CHILDREN and nothing else. */
export function fill(element: Element, ...children: readonly Child[]): void {
	element.replaceChildren(...texts(children));
}

const SVG = "http://www.w3.org/2000/svg";

/** A picture of one PATH, on the grid of VIEW_BOX. */
export function drawing(viewBox: string, path: string): SVGSVGElement {
	const svg = document.createElementNS(SVG, "svg");
	const drawn = document.createElementNS(SVG, "path");
	svg.setAttribute("viewBox", viewBox);
	drawn.setAttribute("d", path);
	svg.append(drawn);
	return svg;
}

/** An icon of the page's own: strokes on a grid of 24. */
export function icon(path: string): SVGSVGElement {
	const svg = drawing("0 0 24 24", path);
	svg.setAttribute("class", "icon");
	svg.setAttribute("aria-hidden", "true");
	return svg;
}

/** A picture of filled squares, for instance a QR code. */
export function squares(rows: readonly (readonly boolean[])[], label: string): SVGSVGElement {
	const cells = rows.flatMap((row, y) => row.flatMap((isSet, x) => (isSet ? [`M${x} ${y}h1v1h-1z`] : [])));
	const svg = drawing(`0 0 ${rows.length} ${rows.length}`, cells.join(""));
	svg.setAttribute("role", "img");
	svg.setAttribute("aria-label", label);
	return svg;
}

export const ICONS = {
	close: "M6 6l12 12M18 6L6 18",
	copy: "M9 9h10v11H9zM5 15V4h10",
	down: "M12 5v14M6 13l6 6 6-6",
	people: "M9 11a3 3 0 100-6 3 3 0 000 6zM3 20c0-4 3-6 6-6s6 2 6 6M16 5a3 3 0 010 6M18 14c2 1 3 3 3 6",
	play: "M7 5l12 7-12 7z",
	pause: "M8 5v14M16 5v14",
	plus: "M12 5v14M5 12h14",
	search: "M11 18a7 7 0 100-14 7 7 0 000 14zM20 20l-4-4",
	share: "M12 15V4M8 7l4-4 4 4M5 12v8h14v-8",
	split: "M4 5h16v14H4zM12 5v14",
	theme: "M20 14.5A8.5 8.5 0 119.5 4a7 7 0 0010.5 10.5z",
} as const;

/** A button with an icon; LABEL is what it is called, and is shown when IS_SHOWN. */
export function iconButton(
	path: string,
	label: string,
	onClick: (event: MouseEvent) => void,
	isShown = false,
): HTMLButtonElement {
	const attributes = { type: "button", class: isShown ? "button" : "icon-button", on: { click: onClick } };
	const named = isShown ? { "aria-label": label } : { "aria-label": label, title: label };
	return h("button", { ...attributes, ...named }, icon(path), isShown && h("span", {}, label));
}

export function button(label: string, onClick: (event: MouseEvent) => void, kind = ""): HTMLButtonElement {
	return h("button", { type: "button", class: `button ${kind}`, on: { click: onClick } }, label);
}

/** A choice among OPTIONS: value and text. */
export function select(
	label: string,
	options: readonly (readonly [string, string])[],
	chosen: string,
	onChange: (value: string) => void,
): HTMLSelectElement {
	const element = h(
		"select",
		{ "aria-label": label, on: { change: () => onChange(element.value) } },
		...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
	);
	return element;
}

function listen(element: HTMLElement, listeners: NonNullable<Attributes["on"]>): void {
	for (const [name, listener] of Object.entries(listeners)) {
		element.addEventListener(name, listener as EventListener);
	}
}

function texts(children: readonly Child[]): (Node | string)[] {
	return children.flatMap((child) => {
		if (child === null || child === undefined || child === false) {
			return [];
		}
		return [typeof child === "number" ? String(child) : child];
	});
}
