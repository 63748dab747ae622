// What the points of a figure say (faithbook/show/hover.py), over the picture: by mouse, by finger, by arrow keys. The
// picture stays as it is, so that without scripts and on paper nothing is missed.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";
  const NEAR = 28;  // how far from a point, in pixels, it still answers
  const make = (name, className, given = {}) => {
    const made = Object.assign(document.createElement(name), {className});
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
    return made;
  };

  const lay = (image, points) => {
    const picture = image.closest("a") || image, sheet = make("span", "said-sheet");
    const ring = make("span", "said-ring", {hidden: ""}), tip = make("span", "said-tip", {hidden: ""});
    // A slider is what screen readers know of this kind: a place among so many, with a text for it.
    const keys = make("span", "said-keys", {tabindex: 0, role: "slider", "aria-label": "Values in this figure, by arrow keys",
      "aria-valuemin": 1, "aria-valuemax": points.length, "aria-valuenow": 1, "aria-valuetext": points[0][2]});
    picture.replaceWith(sheet);
    sheet.append(picture, keys, ring, tip);
    let now = -1;

    // In dark mode the picture has a margin of its own inside its frame.
    const place = ([x, y]) => {
      const frame = image.getBoundingClientRect(), from = sheet.getBoundingClientRect(), style = getComputedStyle(image);
      const [left, right, top, bottom] = ["Left", "Right", "Top", "Bottom"].map(side => parseFloat(style[`padding${side}`]) || 0);
      return [frame.left - from.left + left + x * (frame.width - left - right),
        frame.top - from.top + top + y * (frame.height - top - bottom)];
    };
    const hide = () => { now = -1; ring.hidden = tip.hidden = true; };
    const show = at => {
      if (at === now) return;
      now = at;
      const [x, y] = place(points[at]), [head, ...rest] = points[at][2].split("\n");
      const name = make("strong", "");
      name.textContent = head;
      tip.replaceChildren(name, ...rest.flatMap(line => [make("br", ""), line]));
      ring.hidden = tip.hidden = false;
      ring.style.left = `${x}px`;
      ring.style.top = `${y}px`;
      const {width, height} = tip.getBoundingClientRect(), above = y - height - 14;
      tip.style.left = `${Math.max(0, Math.min(x - width / 2, sheet.clientWidth - width))}px`;
      tip.style.top = `${above >= 0 ? above : y + 14}px`;
      keys.setAttribute("aria-valuenow", at + 1);
      keys.setAttribute("aria-valuetext", points[at][2].replaceAll("\n", "; "));
    };
    const nearest = event => {
      const from = sheet.getBoundingClientRect(), [px, py] = [event.clientX - from.left, event.clientY - from.top];
      const far = points.map(one => { const [x, y] = place(one); return Math.hypot(x - px, y - py); });
      const at = far.indexOf(Math.min(...far));
      return far[at] <= NEAR ? at : -1;
    };
    const answer = event => { const at = nearest(event); at < 0 ? hide() : show(at); return at >= 0; };

    sheet.addEventListener("pointermove", event => { if (event.pointerType === "mouse") answer(event); });
    sheet.addEventListener("pointerleave", event => { if (event.pointerType === "mouse" && document.activeElement !== keys) hide(); });
    // A finger cannot hover: its tap asks, and follows the picture's link only where there is nothing to say.
    sheet.addEventListener("click", event => {
      if (event.pointerType !== "mouse" && event.detail && answer(event)) event.preventDefault();
    });
    document.addEventListener("pointerdown", event => { if (!sheet.contains(event.target)) hide(); });
    keys.addEventListener("focus", () => show(Math.max(now, 0)));
    keys.addEventListener("blur", hide);
    keys.addEventListener("keydown", event => {
      const last = points.length - 1, from = Math.max(now, 0);
      const to = {ArrowRight: from + 1, ArrowDown: from + 1, ArrowLeft: from - 1, ArrowUp: from - 1,
        PageDown: from + 10, PageUp: from - 10, Home: 0, End: last}[event.key];
      if (event.key === "Escape") hide();
      if (to === undefined) return;
      show(Math.max(0, Math.min(last, to)));
      event.preventDefault();
    });
    addEventListener("resize", hide);
  };

  for (const given of document.querySelectorAll("script.said")) {
    const image = document.querySelector(`#${CSS.escape(given.dataset.figure)} img`);
    if (image) lay(image, JSON.parse(given.textContent));
  }
});
