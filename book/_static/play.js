// The games of the page `play`, without a kernel and without a network: every answer that they need is in the page, as JSON in a
// `.play` (made by `faithbook.studies.together.games.show`). Bounds are worked out there too; here is nothing but sums of a player's own order.
(() => {
  "use strict";
  const make = (name, given = {}, ...inside) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(given)) key in made ? (made[key] = value) : made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const short = (x, digits = 3) => {
    const text = Math.abs(x).toFixed(digits);
    return (x < 0 && +text !== 0 ? "−" : "") + text;
  };
  const mean = values => values.reduce((sum, x) => sum + x, 0) / values.length;
  const button = (text, act, given = {}) => {
    const made = make("button", {type: "button", textContent: text, ...given});
    made.addEventListener("click", act);
    return made;
  };
  const menu = (name, values, act) => {
    const made = make("select", {}, ...values.map((text, value) => make("option", {value, textContent: text})));
    made.addEventListener("change", () => act(+made.value));
    return [make("label", {}, `${name} `, made), made];
  };
  const picture = (label, height) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const given = {viewBox: `0 0 360 ${height}`, role: "img", "aria-label": label};
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
    return made;
  };
  const rise = value => 158 - 142 * value;  // where a probability stands in a drawing
  const frame = (across, marks) => "<g class='axis'>" + [0, 0.5, 1].map(y =>
    `<line x1='30' x2='352' y1='${rise(y)}' y2='${rise(y)}'/><text x='25' y='${rise(y) + 4}' text-anchor='end'>${y}</text>`).join("")
    + marks.map(([x, text]) => `<text x='${x}' y='174' text-anchor='middle'>${text}</text>`).join("")
    + `<text x='352' y='189' text-anchor='end'>${across}</text><text x='30' y='8'>probability</text></g>`;
  // Arrows, Home and End lead from one of a row of buttons to the next.
  const arrows = (row, more = () => {}, across = () => 0) => row.addEventListener("keydown", event => {
    const all = [...row.querySelectorAll("button")], at = all.indexOf(document.activeElement);
    const lines = across() ? {ArrowDown: at + across(), ArrowUp: at - across()} : {};
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1, ...lines}[event.key];
    if (at >= 0 && to !== undefined) { all[(to + all.length) % all.length].focus(); event.preventDefault(); }
    more(event);
  });

  // Answers to the sets of sixteen cells are too many for text: two bytes each, the lower first.
  const unpacked = text => {
    const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
    return Uint16Array.from({length: bytes.length / 2}, (_, i) => bytes[2 * i] + 256 * bytes[2 * i + 1]);
  };
  // A picture as a sheet for its cells.
  const sheet = item => {
    const canvas = make("canvas", {width: item.side, height: item.side}), context = canvas.getContext("2d");
    const image = context.createImageData(item.side, item.side);
    item.grey.forEach((grey, i) => image.data.set([grey, grey, grey, 255], 4 * i));
    context.putImageData(image, 0, 0);
    return `url(${canvas.toDataURL()})`;
  };

  const erase = (box, data) => {
    const cells = box.dataset.game === "patches", unit = {patches: "cell", prompt: "sentence"}[box.dataset.game] || "word";
    const texts = [...new Set(data.items.map(item => item.text))];
    let item, order, shown, own;
    const curve = path => {
      let gone = 0;
      item.p ||= unpacked(item.packed);
      return [item.p[0], ...path.map(word => item.p[(gone |= 1 << word)])].map(p => p / data.scale);
    };
    const aopc = path => { const found = curve(path); return mean(found.slice(1).map(p => found[0] - p)); };
    const share = value => (item.upper - item.lower > 1e-9 ? Math.min(1, Math.max(0, (value - item.lower) / (item.upper - item.lower))) : NaN);
    const name = word => (item.words ? item.words[word] : `word ${word + 1}`);
    const path = found => found.map(unit === "sentence" ? place => place + 1 : name).join(", ");  // a sentence is too long for a cell

    const row = make("div", {className: cells ? "patches" : "words", role: "group"});
    const chart = picture("", 194), scale = picture("", 46);
    const told = make("p", {className: "told", role: "status"}), bounds = make("p");
    const rows = make("tbody"), table = make("div", {className: "others"}, make("table", {},
      make("thead", {}, make("tr", {}, ...["order of", "AOPC", "NAOPC", unit === "sentence" ? "sentences (by place in the prompt)" : `${unit}s in that order`].map(text => make("th", {scope: "col"}, text)))), rows));
    const hidden = make("div", {className: "bounds"}, scale, bounds, table);

    const begin = found => {
      [item, order, shown, own] = [found, [], null, null];
      row.setAttribute("aria-label", `${unit[0].toUpperCase() + unit.slice(1)}s of ${item.text}: press one to erase it, press it again to put it back`);
      if (cells) {
        row.style.backgroundImage = sheet(item);
        row.style.setProperty("--gone", `rgb(${Array(3).fill(Math.round(mean(item.grey)))})`);  // what the model reads there
        row.style.gridTemplateColumns = `repeat(${Math.sqrt(item.n)}, 1fr)`;
      }
      row.replaceChildren(...Array.from({length: item.n}, (_, word) => button("", () => {
        order = order.includes(word) ? order.filter(one => one !== word) : [...order, word];
        if (order.length === item.n) own = [...order];
        show();
      }, {"aria-pressed": "false"})));
      show();
    };

    const show = () => {
      const now = curve(order), value = order.length ? aopc(order) : 0, over = order.length === item.n;
      [...row.children].forEach((one, word) => {
        const place = order.indexOf(word);
        one.setAttribute("aria-pressed", String(place >= 0));
        one.replaceChildren(make("span", {}, name(word)), ...(place < 0 ? [] : [make("small", {}, `${place + 1}`)]));
      });
      const x = k => 34 + (314 * k) / item.n;
      const line = (values, kind) => `<polyline class='${kind}' points='${values.map((p, k) => `${x(k)},${rise(p)}`).join(" ")}'/>`;
      const dots = now.map((p, k) => `<circle class='yours' cx='${x(k)}' cy='${rise(p)}' r='3.5'/>`).join("");
      chart.innerHTML = frame(`${unit}s gone`, Array.from({length: item.n + 1}, (_, k) => [x(k), k])) + (shown ? line(curve(shown.order), "other") : "") + line(now, "yours") + dots;
      chart.setAttribute("aria-label", `Probability of ${item.says} while ${unit}s go: ${now.map(p => short(p, 2)).join(", ")}`);
      told.textContent = `${order.length} of ${item.n} ${unit}s gone. Probability of ${item.says}: ${short(now.at(-1))}, with all ${unit}s ${short(now[0])}. `
        + (order.length ? `AOPC ${over ? "of your order" : "so far"}: ${short(value)}.` : `Erase the ${unit} that you think matters most.`);
      const at = y => 20 + 320 * (isNaN(share(y)) ? 0.5 : share(y));
      const mark = (y, kind) => `<line class='${kind}' x1='${at(y)}' x2='${at(y)}' y1='10' y2='26'/>`;
      scale.innerHTML = `<line class='axis' x1='20' x2='340' y1='18' y2='18'/>`
        + `<g class='axis'><text x='20' y='42'>worst ${short(item.lower)}</text><text x='340' y='42' text-anchor='end'>best ${short(item.upper)}</text></g>`
        + mark(item.chance, "chance") + (over ? Object.values(item.orders).map(other => mark(other.aopc, "other")).join("") + `<circle class='yours' cx='${at(value)}' cy='18' r='6'/>` : "");
      const place = over ? `Your order: ${short(value)}, ${Math.round(100 * share(value))} % of the way from the worst to the best (NAOPC ${short(share(value), 2)}). ` : "";
      bounds.textContent = `${place}Of all ${item.n}! orders the worst has ${short(item.lower)}, the best ${short(item.upper)}; a random one gets ${short(item.chance)} on average.`;
      scale.setAttribute("aria-label", bounds.textContent);
      table.hidden = !over && !own;
      const ends = {"the best": {order: item.best, aopc: item.upper}, "the worst": {order: item.worst, aopc: item.lower}};
      const every = Object.entries({...(own ? {you: {order: own, aopc: aopc(own)}} : {}), ...item.orders, ...ends});
      rows.replaceChildren(...every.sort((a, b) => b[1].aopc - a[1].aopc).map(([who, other]) => make("tr", {className: who === "you" ? "you" : ""},
        make("th", {scope: "row"}, button(who, () => { shown = shown && shown.who === who ? null : {...other, who}; show(); rows.querySelector("[aria-pressed=true]")?.focus(); },
          {"aria-pressed": String(!!shown && shown.who === who), title: "draw this order as a dashed line"})),
        make("td", {}, short(other.aopc)), make("td", {}, isNaN(share(other.aopc)) ? "–" : short(share(other.aopc), 2)), make("td", {}, path(other.order)))));
    };

    const of = text => data.items.filter(one => one.text === texts[text]);
    let among = of(0);
    const [modelLabel, model] = menu("Model", [""], at => begin(among[at]));
    const choose = text => {
      among = of(text);
      model.replaceChildren(...among.map((one, value) => make("option", {value, textContent: one.model})));
      begin(among[0]);
    };
    const [textLabel] = menu({cell: "Image", word: "Sentence", sentence: "Prompt"}[unit], texts, choose);
    const back = () => { order = order.slice(0, -1); show(); };
    const cover = make("input", {type: "checkbox"});
    cover.addEventListener("change", () => {
      box.classList.toggle("covered", cover.checked);
      document.getElementById(box.dataset.picture)?.classList.toggle("covered-picture", cover.checked);
    });
    arrows(row, event => { if (event.key === "Backspace") { back(); event.preventDefault(); } }, () => (cells ? Math.sqrt(item.n) : 0));
    box.append(make("div", {className: "bar"}, textLabel, modelLabel),
      row, make("div", {className: "bar"}, button("one step back", back), button("start again", () => { order = []; show(); }),
        make("label", {}, cover, " hide the bounds")), told, chart, hidden);
    choose(0);
  };

  const soft = (box, data) => {
    const [label, chosen] = menu("Word", data.words, () => show());
    chosen.value = data.start;
    const slider = make("input", {type: "range", min: 0, max: data.grid.length - 1, step: 1, value: data.grid.length >> 1});
    const told = make("p", {className: "told", role: "status"}), text = make("p", {className: "sentence"});
    const cells = make("div", {className: "cells", role: "img"}), chart = picture("", 194);
    const show = () => {
      const word = +chosen.value, at = +slider.value, importance = data.grid[at];
      const drawn = data.p[word].map(values => values.map(p => p / data.scale)), here = drawn[at];
      const stays = data.numbers[word].map(u => u < importance), many = stays.filter(Boolean).length;
      const whole = drawn.at(-1)[0], none = drawn[0][0];
      slider.setAttribute("aria-valuetext", `importance ${short(importance, 1)}`);
      text.replaceChildren(...data.words.flatMap((one, place) => [place === word ? make("strong", {}, one) : one, " "]));
      cells.replaceChildren(...stays.map(kept => make("i", {className: kept ? "kept" : ""})));
      cells.setAttribute("aria-label", `${many} of ${stays.length} numbers of the word stay`);
      const x = g => 42 + (300 * g) / (data.grid.length - 1);
      const strip = drawn.map((values, g) => values.map((p, draw) =>
        `<circle class='${g === at ? "yours" : "other"}' cx='${x(g) + ((draw * 5) % 11) - 5}' cy='${rise(p)}' r='${g === at ? 3 : 1.6}'/>`).join("")).join("");
      chart.innerHTML = frame("importance", data.grid.map((q, g) => [x(g), q])) + strip
        + `<line class='yours' x1='${x(at) - 10}' x2='${x(at) + 10}' y1='${rise(mean(here))}' y2='${rise(mean(here))}'/>`;
      told.textContent = `Importance ${short(importance, 1)} of “${data.words[word]}”: ${many} of the ${stays.length} numbers drawn here stay. `
        + `Over ${here.length} draws the probability of ${data.says} is ${short(mean(here))} on average, from ${short(Math.min(...here))} to ${short(Math.max(...here))}. `
        + `Hard erasure knows two answers: ${short(whole)} with the word, ${short(none)} without it.`;
      chart.setAttribute("aria-label", told.textContent);
    };
    slider.addEventListener("input", show);
    box.append(make("div", {className: "bar"}, label, make("label", {}, "Importance ", slider)), text, cells, told, chart);
    show();
  };

  const saco = (box, data) => {
    const letter = group => String.fromCharCode(65 + group), k = data.drop.length;
    let order = [...data.drop.keys()], dragged = null;
    const list = make("ol", {className: "groups"}), told = make("p", {className: "told", role: "status"}), pairs = make("ul", {className: "pairs"});
    const draw = group => {
      const canvas = make("canvas", {width: data.side, height: data.side, role: "img", "aria-label": `The image with group ${letter(group)} bright`});
      const context = canvas.getContext("2d"), image = context.createImageData(data.side, data.side);
      data.grey.forEach((grey, i) => {
        const inside = data.group[i] === group;
        image.data.set(inside ? [255, 120 + grey * 0.5, grey * 0.6, 255] : [grey * 0.5, grey * 0.5, grey * 0.5, 255], 4 * i);
      });
      context.putImageData(image, 0, 0);
      return canvas;
    };
    const move = (group, to) => {
      order = order.filter(one => one !== group);
      order.splice(Math.max(0, Math.min(k - 1, to)), 0, group);
      show();
    };
    const items = data.drop.map((drop, group) => {
      const step = (text, by, says) => button(text, event => {
        move(group, order.indexOf(group) + by);
        event.currentTarget.focus();
      }, {"aria-label": `move group ${letter(group)} ${says}`});
      const place = make("small");
      const made = make("li", {draggable: true}, draw(group), make("b", {}, letter(group)), place,
        make("small", {}, `erased: ${drop < 0 ? "gains" : "loses"} ${short(Math.abs(drop))}`), step("▲", -1, "up"), step("▼", 1, "down"));
      made.addEventListener("dragstart", event => { dragged = group; event.dataTransfer.setData("text/plain", letter(group)); });
      made.addEventListener("dragover", event => event.preventDefault());
      made.addEventListener("drop", event => { event.preventDefault(); if (dragged !== null) move(dragged, order.indexOf(group)); dragged = null; });
      made.addEventListener("keydown", event => {
        const by = {ArrowUp: -1, ArrowDown: 1}[event.key];
        if (by) { const held = document.activeElement; move(group, order.indexOf(group) + by); held.focus(); event.preventDefault(); }
      });
      return [made, place];
    });
    const show = () => {
      const against = [];
      let sum = 0, total = 0;
      order.forEach((first, i) => order.slice(i + 1).forEach((second, j) => {
        const weight = data.salience[i] - data.salience[i + 1 + j], obeys = data.drop[first] >= data.drop[second];
        sum += obeys ? weight : -weight;
        total += Math.abs(weight);
        if (!obeys) against.push([weight, first, second]);
      }));
      list.append(...order.map(group => items[group][0]));
      order.forEach((group, place) => (items[group][1].textContent = `salience ${short(data.salience[place])}`));
      told.textContent = `SaCo ${total ? short(sum / total) : "–"}: ${against.length} of ${(k * (k - 1)) / 2} pairs violate. `
        + `From the top: ${order.map(letter).join(", ")}.`;
      pairs.replaceChildren(...against.sort((a, b) => b[0] - a[0]).map(([weight, first, second]) => make("li", {},
        `${letter(first)} stands above ${letter(second)}, but ${letter(second)} costs more: −${short(weight / total)} instead of +${short(weight / total)}`)));
    };
    const set = found => () => { order = found; show(); };
    const byDrop = [...order].sort((a, b) => data.drop[b] - data.drop[a]);
    box.append(make("div", {className: "bar"}, button(`order of ${data.method}`, set([...order])), button("order of the model", set(byDrop)), button("the reverse", set([...byDrop].reverse()))),
      list, told, pairs);
    show();
  };

  const games = {erase, patches: erase, prompt: erase, soft, saco};
  addEventListener("DOMContentLoaded", () => document.querySelectorAll(".play").forEach(box => {
    games[box.dataset.game](box, JSON.parse(box.querySelector("script").textContent));
  }));
})();
