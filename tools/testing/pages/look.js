// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Looks at the page that it stands in, once it is laid out, and leaves what it has found, as JSON, in
// an element with the id "looked": how large the page is, how many texts it has, and what is wrong.
"use strict";
(() => {
	const faults = [];
	const root = document.documentElement;

	// A text is what an element has of its own, by the boxes of its lines.
	const texts = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const node = walker.currentNode, element = node.parentElement;
		if (!node.data.trim() || ["SCRIPT", "STYLE", "title"].includes(element.nodeName))
			continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		const boxes = element instanceof SVGElement ? [element.getBoundingClientRect()] : [...range.getClientRects()];
		texts.push({ element, words: node.data.trim().slice(0, 60), boxes: boxes.filter(b => b.width && b.height) });
	}

	if (root.scrollWidth > root.clientWidth)
		faults.push(`the page is ${root.scrollWidth} wide, its window ${root.clientWidth}`);
	for (const element of document.body.querySelectorAll("*"))
		if (!(element instanceof SVGElement) && element.scrollWidth > element.clientWidth && element.clientWidth)
			faults.push(`cut: <${element.nodeName}> ${element.textContent.trim().slice(0, 60)}`);

	// by less than a pixel is how boxes are rounded
	const slack = 1;
	const inside = (a, b) => a.left >= b.left - slack && a.right <= b.right + slack &&
		a.top >= b.top - slack && a.bottom <= b.bottom + slack;
	// Letters are not as high as their line, and lines of a picture may stand closer than in a text.
	const lead = (a, b) => Math.max(slack, Math.min(a.height, b.height) / 5);
	const meets = (a, b) => a.left < b.right - slack && b.left < a.right - slack &&
		a.top < b.bottom - lead(a, b) && b.top < a.bottom - lead(a, b);

	for (const text of texts) {
		if (!text.boxes.length)
			faults.push(`not to be seen: ${text.words}`);
		const picture = text.element.closest("svg");
		const frame = picture ? picture.getBoundingClientRect() :
			{ left: 0, top: 0, right: root.clientWidth, bottom: root.scrollHeight };
		if (!text.boxes.every(box => inside(box, frame)))
			faults.push(`cut: ${text.words}`);
	}
	texts.forEach((text, at) => {
		for (const other of texts.slice(at + 1))
			if (text.boxes.some(a => other.boxes.some(b => meets(a, b))))
				faults.push(`on each other: ${text.words} | ${other.words}`);
	});

	const said = document.createElement("pre");
	said.id = "looked";
	said.textContent = JSON.stringify({ width: root.clientWidth, height: root.scrollHeight, texts: texts.length, faults });
	document.body.append(said);
})();
