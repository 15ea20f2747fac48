/* Of the pages: it is told, instead of nothing at all. */
(function () {
	NEEDS["script modules"] = function () {
		return "noModule" in document.createElement("script");
	};
	NEEDS["dialogs"] = function () {
		return "HTMLDialogElement" in window;
	};
	var lacking = lackingOf(NEEDS);
	if (lacking.length > 0) {
		document.documentElement.setAttribute("data-lacking", ""); // see begin() in src/frame.ts
		tell("This browser is too old", "Sandbar's pages need what it lacks: " + lacking.join(", ") + ".");
	}

	function tell(title, text) {
		var main = document.createElement("main");
		var box = document.createElement("section");
		box.className = "stop";
		box.appendChild(element("h1", title));
		box.appendChild(element("p", text));
		main.appendChild(box);
		document.getElementById("page").appendChild(main);
	}

	function element(tag, text) {
		var made = document.createElement(tag);
		made.appendChild(document.createTextNode(text));
		return made;
	}
})();
