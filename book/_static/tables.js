// Tables in the page itself, without a kernel and without a network. `.findable` sorts by a click on a head and is filtered by a
// field, and by a menu for each column of few different words. A table that does not fit its column is set closer, with heads that
// stand upright if need be; on a telephone it is set as cards, one for each row.
(() => {
  "use strict";
  const FEW = 12, SHORT = 40, NARROW = 576;
  const words = cell => (cell ? cell.textContent.trim() : "");
  const number = text => { const found = text.replace("−", "-").match(/^-?\d*\.?\d+/); return found ? +found[0] : NaN; };
  const element = (name, properties) => Object.assign(document.createElement(name), properties);

  const sort = (table, column) => {
    const heads = [...table.tHead.rows[0].cells], up = heads[column].getAttribute("aria-sort") !== "ascending";
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0], key = row => words(row.cells[column]);
    const filled = [...body.rows].filter(key), empty = [...body.rows].filter(row => !key(row));  // what is missing comes last
    const numbers = filled.every(row => !isNaN(number(key(row))));
    filled.sort((a, b) => (numbers ? number(key(a)) - number(key(b)) : key(a).localeCompare(key(b))) * (up ? 1 : -1));
    body.append(...filled, ...empty);
  };

  const findable = table => {
    const heads = [...table.tHead.rows[0].cells], rows = [...table.tBodies[0].rows], menus = [];
    const bar = element("div", {className: "find"}), told = element("span", {role: "status"});
    const field = element("input", {type: "search", placeholder: "find in this table", ariaLabel: "find in this table"});
    const filter = () => {
      const asked = field.value.toLowerCase().split(/\s+/);
      rows.forEach(row => {
        const text = row.textContent.toLowerCase();
        row.hidden = !asked.every(word => text.includes(word)) || menus.some(([menu, column]) => menu.value && menu.value !== words(row.cells[column]));
      });
      told.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} rows`;
    };
    bar.append(field);
    const names = heads.map(words);
    rows.forEach(row => [...row.cells].forEach((cell, column) => { cell.dataset.head = names[column]; }));
    heads.forEach((head, column) => {
      const name = words(head), values = [...new Set(rows.map(row => words(row.cells[column])))].filter(Boolean);
      const button = element("button", {type: "button", textContent: name, title: `sort by ${name}`});
      button.addEventListener("click", () => sort(table, column));
      head.replaceChildren(button);
      if (values.length < 2 || values.length > FEW || values.some(value => value.length > SHORT) || values.every(value => !isNaN(number(value)))) return;
      const menu = element("select", {ariaLabel: name});
      menu.append(element("option", {value: "", textContent: `${name}: any`}), ...values.sort().map(value => element("option", {value, textContent: value})));
      menu.addEventListener("change", filter);
      menus.push([menu, column]);
      bar.append(menu);
    });
    // The name of a row is a link to its place, to copy.
    table.querySelectorAll("code[id]").forEach(name => {
      const link = element("a", {href: `#${name.id}`, title: "the address of this row"});
      name.before(link);
      link.append(name);
    });
    field.addEventListener("input", filter);
    bar.append(told);
    const frame = table.closest(".pst-scrollable-table-container") || table;
    frame.before(bar);
    filter();
  };

  const card = table => {
    if (table.classList.contains("cards")) return;
    const heads = [...table.tHead.rows[0].cells].map(words);
    [...table.tBodies[0].rows].forEach(row => [...row.cells].forEach((cell, column) => { cell.dataset.head = heads[column] || ""; cell.classList.toggle("void", !words(cell)); }));
    table.classList.add("cards");
  };

  // Names of files and columns break after an underline, a slash and their like.
  const breakable = table => {
    const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT), found = [];
    while (walker.nextNode()) if (/[_/#=]\S/.test(walker.currentNode.data)) found.push(walker.currentNode);
    found.forEach(node => node.replaceWith(...node.data.split(/(?<=[_/#=])(?=\S)/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]))));
  };
  const dense = table => {
    table.classList.add("dense");
    breakable(table);
  };
  // The head of a column whose cells are all shorter than it.
  const upright = table => {
    table.classList.add("upright");
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const longest = Math.max(...[...table.tBodies[0].rows].map(row => words(row.cells[column]).length));
      head.classList.toggle("standing", longest < Math.min(SHORT, words(head).length));
    });
  };

  // All are measured before any is changed: a change between two measures lays the whole page out anew, table by table.
  // A table in a closed box has no width, and its turn comes when the box is opened.
  const tooWide = tables => tables.filter(table => table.clientWidth && table.scrollWidth > table.clientWidth + 1);
  const fit = tables => {
    if (innerWidth <= NARROW) {
      tooWide(tables).forEach(card);
      return;
    }
    tooWide(tables).forEach(dense);
    tooWide(tables).forEach(upright);
    tooWide(tables).forEach(table => table.classList.add("broken"));  // words break where nothing else helps
  };

  addEventListener("DOMContentLoaded", () => {
    const tables = [...document.querySelectorAll("article table")].filter(one => one.tHead && one.tHead.rows.length === 1 && one.tBodies.length);
    tables.filter(table => table.classList.contains("findable")).forEach(findable);
    fit(tables);
    addEventListener("load", () => fit(tables));  // what is a card stays one: pictures and fonts only take room
    addEventListener("click", event => {
      const box = event.target.closest(".dropdown");
      if (box) fit(tables.filter(table => box.contains(table)));
    });
    // The column also changes where a sidebar comes or goes.
    const article = document.querySelector("article");
    if (!article) return;
    let width = article.clientWidth;
    new ResizeObserver(() => {
      if (article.clientWidth === width) return;
      width = article.clientWidth;
      tables.forEach(table => table.classList.remove("cards", "dense", "upright", "broken"));
      fit(tables);
    }).observe(article);
  });
})();
