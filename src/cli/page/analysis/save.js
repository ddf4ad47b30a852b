// The board as a picture, and the page as part of another one.

const PICTURE_SIDE = 720;

// A board as an SVG document that needs no other: with its pieces, and colours in place of classes.
function pictureOf(board) {
  const copy = board.cloneNode(true);
  const drawn = [...board.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((element, index) => {
    element.removeAttribute("data-square");
    element.removeAttribute("class");
    if (element.tagName === "use") return;
    const style = getComputedStyle(drawn[index]);
    const names = ["fill", "stroke", "stroke-width", "opacity"];
    if (element.tagName === "text") names.push("font-family", "font-size", "font-weight");
    for (const name of names) element.setAttribute(name, style.getPropertyValue(name));
  });
  const pieces = new Set([...copy.querySelectorAll("use")].map((use) => use.getAttribute("href").slice(1)));
  copy.prepend(draw("defs", {}, ...[...pieces].map((id) => document.getElementById(id).cloneNode(true))));
  copy.removeAttribute("class");
  copy.setAttribute("width", PICTURE_SIDE);
  copy.setAttribute("height", PICTURE_SIDE);
  return new XMLSerializer().serializeToString(copy);
}

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
  announce(name + " saved", true);
}

const saveSvg = (board, name) => save(new Blob([pictureOf(board)], { type: "image/svg+xml" }), name + ".svg");

async function savePng(board, name) {
  const image = new Image();
  image.src = "data:image/svg+xml," + encodeURIComponent(pictureOf(board));
  await image.decode();
  const canvas = make("canvas", { width: PICTURE_SIDE, height: PICTURE_SIDE });
  canvas.getContext("2d").drawImage(image, 0, 0);
  canvas.toBlob((blob) => save(blob, name + ".png"));
}

// The element that shows this page at an address of it within another page. A page on disk is named without its folder.
function embedCode(link, title) {
  const place =
    location.protocol === "file:" ? location.pathname.split("/").pop() : location.href.split("#")[0];
  const quoted = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<iframe src="${quoted(place + link)}" title="${quoted(title)}" width="100%" height="900"></iframe>`;
}
