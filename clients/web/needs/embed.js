/* Of embed.js: a text in the place of each terminal. True: the rest of the script must not be run. */
function embedIsLacking() {
	NEEDS["custom elements"] = function () {
		return "customElements" in window && "attachShadow" in window.Element.prototype;
	};
	var lacking = lackingOf(NEEDS);
	var text = "This browser is too old to show the terminal: it lacks " + lacking.join(", ") + ".";
	var script = document.currentScript;
	if (lacking.length === 0) {
		return false;
	}
	if (script && script.getAttribute("data-session")) {
		script.parentNode.insertBefore(tell(document.createElement("div")), script.nextSibling);
	}
	tellAll();
	document.addEventListener("DOMContentLoaded", tellAll);
	window.Sandbar = { SandbarAddon: Addon };
	return true;

	function tellAll() {
		Array.prototype.forEach.call(document.getElementsByTagName("sandbar-terminal"), tell);
	}

	function tell(place) {
		place.setAttribute("role", "status");
		place.style.display = "block";
		place.style.padding = "8px";
		place.textContent = text;
		return place;
	}

	/* An xterm.js of the page's own says it itself. */
	function Addon() {
		this.activate = function (terminal) {
			terminal.write(text + "\r\n");
		};
		this.dispose = this.write = this.offerSize = function () {};
	}
}
