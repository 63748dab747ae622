// The page of costs, without a kernel: the price of a GPU-hour and how fast a GPU is are two fields, and the cells of its tables
// follow. Every cell carries its hours (faithbook/results/costs.py): those measured on a GPU, and those of the processor of which
// a GPU's are guessed. Here is nothing but a division and a product.
(() => {
  "use strict";
  const amount = x => x.toFixed(x < 10 ? 2 : 1);  // as the page has it
  const element = (name, properties) => Object.assign(document.createElement(name), properties);
  const follow = (name, price, faster) => document.querySelectorAll(`.cost-${name}`).forEach(cell => {
    cell.textContent = amount((+cell.dataset.measured + cell.dataset.guessed / faster) * price);
  });

  const start = () => {
    const box = document.querySelector(".cost");
    if (!box) return;
    const told = element("p", {role: "status"});
    const fields = [["price", "Euros for a GPU-hour"], ["faster", "Times that a GPU is faster than this processor"]].map(([key, text]) => {
      const field = element("input", {type: "number", min: key === "price" ? "0" : "0.01", step: "any", value: box.dataset[key]});
      const label = element("label", {textContent: `${text} `});
      label.append(field);
      box.append(label, " ");
      return field;
    });
    const work = () => {
      const [price, faster] = fields.map(field => field.valueAsNumber), right = price >= 0 && faster > 0;
      if (right) { follow("gpu", 1, faster); follow("euros", price, faster); }
      told.textContent = right ? `At ${price} euros an hour and ${faster} times the speed.` : "Give a price of at least 0 and a speed above 0.";
    };
    fields.forEach(field => field.addEventListener("input", work));
    box.append(told);
    work();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
