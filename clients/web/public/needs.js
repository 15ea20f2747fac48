/* What these pages need of a browser, in words that an old one understands, too: it is told, instead of nothing at all. */
(function () {
	var needs = {
		"WebSocket": "WebSocket" in window,
		"script modules": "noModule" in document.createElement("script"),
		"random numbers": "crypto" in window && "getRandomValues" in window.crypto,
		"dialogs": "HTMLDialogElement" in window,
		"style sheets made by scripts": "CSSStyleSheet" in window && "replaceSync" in window.CSSStyleSheet.prototype,
		"ResizeObserver": "ResizeObserver" in window,
		"Array.prototype.at": "at" in Array.prototype
	};
	var lacking = Object.keys(needs).filter(function (name) {
		return !needs[name];
	});
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
