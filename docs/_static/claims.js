// Filters the table of all claims: by words, and by the values of some columns. A click on a row opens its details.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const form = document.querySelector("form.filter"), frame = document.querySelector(".claims");
  if (!form || !frame) return;
  const rows = [...frame.querySelectorAll("tbody tr")];
  const texts = new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
  const selects = [...form.querySelectorAll("select")];
  const value = (row, select) => row.cells[select.dataset.column].textContent.trim().split(":")[0];
  for (const select of selects)
    for (const name of [...new Set(rows.map(row => value(row, select)))].filter(Boolean).sort())
      select.append(new Option(name));

  function filter() {
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(words.every(word => texts.get(row).includes(word))
        && selects.every(select => !select.value || value(row, select) === select.value));
      shown += !row.hidden;
    }
    form.querySelector("output").textContent = `${shown} of ${rows.length}`;
  }
  function follow() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const row = target && target.closest(".claims tr");
    if (!row) return;
    form.reset();
    filter();
    row.classList.add("open");
    row.scrollIntoView({block: "center"});
  }
  frame.addEventListener("click", event => {
    const row = event.target.closest("tbody tr");
    if (row && !event.target.closest("a") && !String(getSelection())) row.classList.toggle("open");
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  addEventListener("hashchange", follow);
  frame.classList.add("folded");
  form.hidden = false;
  filter();
  follow();
});
