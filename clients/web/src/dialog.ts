import { button, h } from "./dom.js";

/** A question with a yes and a no; BODY is what it is about. Resolves to the answer; closing it is a no. */
export function ask(title: string, yes: string, ...body: readonly (Node | string)[]): Promise<boolean> {
	return new Promise((resolve) => {
		const dialog = openDialog(
			title,
			() => resolve(false),
			...body,
			h(
				"div",
				{ class: "dialog-actions" },
				button("No", () => dialog.close()),
				button(
					yes,
					() => {
						resolve(true);
						dialog.close();
					},
					"primary",
				),
			),
		);
	});
}

/** A dialog with a title, that is gone when it is closed. */
export function openDialog(title: string, onClose: () => void, ...body: readonly (Node | string)[]): HTMLDialogElement {
	const heading = h("h2", { id: "dialog-title" }, title);
	const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, heading, ...body);
	dialog.addEventListener("close", () => {
		dialog.remove();
		onClose();
	});
	dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
	document.body.append(dialog);
	dialog.showModal();
	return dialog;
}
