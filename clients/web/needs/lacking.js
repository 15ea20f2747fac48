/* What a browser lacks of NEEDS: names, and functions that say whether it has what is called so. This file, and those that are put
 * behind it (../needs.ts), are in words that an old browser understands, too. */
function lackingOf(needs) {
	return Object.keys(needs).filter(function (name) {
		return !needs[name]();
	});
}

var NEEDS = {
	"WebSocket": function () {
		return "WebSocket" in window;
	},
	"whole numbers of 64 bits": function () {
		return "BigInt" in window;
	},
	"random numbers": function () {
		return "crypto" in window && "getRandomValues" in window.crypto;
	},
	"style sheets made by scripts": function () {
		return "CSSStyleSheet" in window && "replaceSync" in window.CSSStyleSheet.prototype;
	},
	"ResizeObserver": function () {
		return "ResizeObserver" in window;
	},
	"Array.prototype.at": function () {
		return "at" in Array.prototype;
	}
};
