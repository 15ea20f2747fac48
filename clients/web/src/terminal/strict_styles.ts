/**
 * xterm.js writes its colours and sizes into <style> elements, which a strict policy does not allow. Style sheets that a
 * script makes are allowed: what is written into such an element goes into one of these.
 */

/** A document for xterm.js (`documentOverride`) whose <style> elements put what they are given into ROOT's sheets. */
export function strictDocument(root: Document | ShadowRoot): Document {
	return new Proxy(document, {
		get(target, property) {
			if (property === "createElement") {
				return creator(root);
			}
			const value: unknown = Reflect.get(target, property, target);
			return typeof value === "function" ? (value.bind(target) as unknown) : value;
		},
		set: (target, property, value) => Reflect.set(target, property, value, target),
	});
}

/** Do WORK, in which xterm.js asks the page's own document too: version 6 does so for its scroll bar. */
export function strictly(root: Document | ShadowRoot, work: () => void): void {
	Object.defineProperty(document, "createElement", { value: creator(root), configurable: true });
	try {
		work();
	} finally {
		Reflect.deleteProperty(document, "createElement");
	}
}

type Create = (tag: string, options?: ElementCreationOptions) => HTMLElement;

/** As the page's own document makes elements, whatever stands in its place just now. */
const create: Create = (tag, options) => {
	const { createElement } = Document.prototype as { createElement: Create };
	return createElement.call(document, tag, options);
};

function creator(root: Document | ShadowRoot): Create {
	return (tag, options) => {
		if (tag.toLowerCase() === "style") {
			return sheetOf(root);
		}
		const element = create(tag, options);
		styleByScript(element);
		return element;
	};
}

/** The attribute `style` is forbidden as well, what a script sets is not; both say the same. */
function styleByScript(element: HTMLElement): void {
	element.setAttribute = (name: string, value: string): void => {
		if (name === "style") {
			element.style.cssText = value;
		} else {
			Element.prototype.setAttribute.call(element, name, value);
		}
	};
}

/** What stands for a <style> element: nothing to be seen, whose text is a sheet of ROOT as long as it is there. */
function sheetOf(root: Document | ShadowRoot): HTMLElement {
	const element = create("template");
	const sheet = new CSSStyleSheet();
	let text = "";
	root.adoptedStyleSheets.push(sheet);
	Object.defineProperty(element, "textContent", {
		get: () => text,
		set: (value: string) => {
			text = value;
			sheet.replaceSync(value);
		},
	});
	element.remove = () => {
		root.adoptedStyleSheets = root.adoptedStyleSheets.filter((adopted) => adopted !== sheet);
		HTMLElement.prototype.remove.call(element);
	};
	return element;
}
