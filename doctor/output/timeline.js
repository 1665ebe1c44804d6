"use strict";
(() => {
  const bars = [...document.querySelectorAll(".bar")];
  const rows = new Map([...document.querySelectorAll("article")].map((row) => [row.dataset.row, row]));
  const findings = [...document.querySelectorAll("#findings li")];
  const details = document.getElementById("details");
  const introduction = details.textContent;
  const known = new Map();
  const words = (element, name) => {
    if (!known.has(element)) known.set(element, {});
    const lists = known.get(element);
    return (lists[name] ??= new Set((element.dataset[name] || "").split(" ").filter(Boolean)));
  };

  // Everything that belongs to a bar, a row or a finding, itself included.
  const relatives = (element) => {
    const found = new Set([element]);
    const numbers = new Set(words(element, "findings"));
    if (element.matches(".bar")) {
      for (const row of words(element, "rows")) if (rows.has(row)) found.add(rows.get(row));
    } else if (element.matches("article")) {
      for (const bar of bars) if (words(bar, "rows").has(element.dataset.row)) found.add(bar);
    } else {
      numbers.clear();
      for (const other of [...bars, ...rows.values()])
        if (words(other, "findings").has(element.dataset.finding)) found.add(other);
    }
    for (const finding of findings) if (numbers.has(finding.dataset.finding)) found.add(finding);
    return found;
  };
  const mark = (name, elements) => {
    for (const old of document.querySelectorAll("." + name)) old.classList.remove(name);
    for (const element of elements) element.classList.add(name);
  };
  const show = (element, container) => {
    const place = element.getBoundingClientRect(), frame = container.getBoundingClientRect();
    if (place.top < frame.top + 70 || place.bottom > frame.bottom) container.scrollTop += place.top - frame.top - 90;
  };
  const tell = (element) => {
    details.classList.toggle("told", Boolean(element));
    if (!element) details.textContent = introduction;
    else {
      const own = element.matches("li") ? "" : element.getAttribute("aria-label") + "\n";
      const said = [...relatives(element)].filter((one) => one.matches("li")).map((one) => one.textContent);
      details.textContent = (own + said.join("\n")).trim();
    }
  };
  const find = (event) => (event.target instanceof Element ? event.target.closest(".bar, article, #findings li") : null);

  let picked = null;
  const pick = (element) => {
    picked = element;
    const found = element ? relatives(element) : [];
    mark("picked", found);
    tell(element);
    if (!element) return;
    for (const [selector, id] of [["article", "transcript"], [".bar", "timeline"]]) {
      const first = [...document.querySelectorAll(selector)].find((one) => one.classList.contains("picked"));
      if (first && !element.matches(selector)) show(first, document.getElementById(id));
    }
  };
  document.addEventListener("click", (event) => {
    const element = find(event);
    if (element && String(getSelection()) === "") pick(element === picked ? null : element);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pick(null);
    const element = find(event);
    if (element && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pick(element === picked ? null : element);
    }
  });
  document.addEventListener("mouseover", (event) => {
    const element = find(event);
    mark("near", element ? relatives(element) : []);
    if (!picked) tell(element);
  });
})();
