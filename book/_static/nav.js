// Parts of the table of contents fold: only the part of the present page is open. Without scripts all of them are.
(() => {
  "use strict";
  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".bd-sidebar-primary nav.bd-links p.caption").forEach(caption => {
      const list = caption.nextElementSibling;
      if (!list || list.tagName !== "UL") return;
      const box = document.createElement("details"), head = document.createElement("summary");
      box.className = "part";
      box.open = !!list.querySelector(".current");
      head.append(...caption.childNodes);
      caption.replaceWith(box);
      box.append(head, list);
    });
  });
})();
