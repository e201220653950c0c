"use strict";
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const text = (number) => (number < 0 ? null : DATA.strings[number]);

  /** An element. Strings become text nodes, never markup. */
  function el(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
    return made;
  }
  const fixed = (value, places = 3) => (value === null || value === undefined ? "–" : value.toFixed(places).replace("-", "−"));
  const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en-US"));
  const distinct = (numbers) => [...new Set(numbers)].map(text).filter((value) => value !== null);

  function choice(label, values, value, changed, all = "all") {
    const select = el("select", { onchange: (event) => changed(event.target.value) });
    select.append(el("option", { value: "" }, all));
    for (const each of values) {
      const [key, shown] = Array.isArray(each) ? each : [each, each];
      select.append(el("option", { value: key }, shown));
    }
    select.value = value;
    return el("label", {}, label, select);
  }

  // --- tables of numbers ----------------------------------------------------------------------------------------------

  const PAGE = 250;

  /** A table that is filtered, searched and sorted. `columns`: title, value(row), optional cell(row), numeric.
   *  `filters`: label, key(row), initial, all. `details(row)`: pairs that a click shows. */
  function explorer(root, size, columns, filters, details, checks = []) {
    if (!root || !size) return;
    const rows = Array.from({ length: size }, (_, row) => row);
    const chosen = filters.map(({ initial, key }) => (rows.some((row) => key(row) === initial) ? initial : ""));
    const checked = checks.map(() => false);
    const state = { sort: -1, down: false, words: "", most: PAGE };
    const controls = el("div", { class: "controls" });
    filters.forEach((filter, index) => {
      const values = filter.values ?? [...new Set(rows.map(filter.key))].filter((value) => value).sort();
      controls.append(choice(filter.label, values, chosen[index], (value) => { chosen[index] = value; state.most = PAGE; draw(); }, filter.all));
    });
    checks.forEach((check, index) => controls.append(el("label", { class: "check" },
      el("input", { type: "checkbox", onchange: (event) => { checked[index] = event.target.checked; draw(); } }), check.label)));
    controls.append(el("label", {}, "search", el("input", { type: "search", oninput: (event) => { state.words = event.target.value.toLowerCase(); draw(); } })));
    const shown = el("p", { class: "shown", "aria-live": "polite" });
    const heads = columns.map((column, index) => el("th", {
      class: column.numeric && "n", scope: "col", tabindex: 0, title: column.about,
      onclick: () => sortBy(index),
      onkeydown: (event) => { if (event.key === "Enter") sortBy(index); },
    }, column.title));
    const body = el("tbody");
    const more = el("button", { onclick: () => { state.most = Infinity; draw(); } });
    root.append(controls, shown, el("div", { class: "window" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)), more);

    function sortBy(index) {
      state.down = state.sort === index ? !state.down : Boolean(columns[index].numeric);
      state.sort = index;
      draw();
    }
    function matching() {
      const words = state.words.split(/\s+/).filter(Boolean);
      const found = rows.filter((row) =>
        filters.every((filter, index) => !chosen[index] || filter.key(row) === chosen[index]) &&
        checks.every((check, index) => !checked[index] || check.holds(row)) &&
        words.every((word) => columns.some((column) => String(column.value(row) ?? "").toLowerCase().includes(word))));
      if (state.sort >= 0) {
        const { value } = columns[state.sort];
        const sign = state.down ? -1 : 1;
        const order = (one, other) => typeof one === "number" ? one - other : String(one).localeCompare(String(other));
        found.sort((a, b) => {
          const one = value(a), other = value(b);
          const gone = one === null || one === undefined, missing = other === null || other === undefined;
          return gone || missing ? gone - missing : sign * order(one, other);
        });
      }
      return found;
    }
    function draw() {
      const found = matching();
      heads.forEach((head, index) => head.setAttribute("aria-sort", index !== state.sort ? "none" : state.down ? "descending" : "ascending"));
      shown.textContent = `${count(found.length)} of ${count(size)} rows` + (found.length ? "" : ": nothing matches all filters together");
      body.replaceChildren(...found.slice(0, state.most).map(line));
      more.hidden = found.length <= state.most;
      more.textContent = `Show all ${count(found.length)}`;
    }
    function line(row) {
      const made = el("tr", { class: "row" }, columns.map((column, index) =>
        el(index ? "td" : "th", { class: [column.numeric && "n", column.kind].filter(Boolean).join(" ") || null },
          column.cell ? column.cell(row) : String(column.value(row) ?? "–"))));
      made.addEventListener("click", () => {
        if (made.nextSibling?.classList?.contains("more")) { made.nextSibling.remove(); return; }
        const pairs = details(row).filter(([, value]) => value !== null && value !== undefined);
        made.after(el("tr", { class: "more" }, el("td", { colspan: columns.length }, pairs.map(([name, value]) => `${name}: ${value}`).join("  ·  "))));
      });
      return made;
    }
    draw();
  }

  /** A dot on its interval, between 0 and 1, or between -1 and 1. */
  function plot(value, low, high, signed) {
    if (value === null || value < (signed ? -1 : 0) || value > 1) return "";
    const at = (number) => `${100 * Math.min(1, Math.max(0, signed ? (number + 1) / 2 : number))}%`;
    const made = el("span", { class: signed ? "plot signed" : "plot", "aria-hidden": true });
    if (low !== null) {
      const bar = el("i");
      bar.style.left = at(low);
      bar.style.right = `calc(100% - ${at(high)})`;
      made.append(bar);
    }
    const dot = el("b");
    dot.style.left = at(value);
    made.append(dot);
    return made;
  }
  const interval = (low, high) => (low === null ? "–" : `${fixed(low)} to ${fixed(high)}`);
  const UNBOUNDED = /^(LES|d_logit|effect|odds_ratio)_/;

  function metrics() {
    const M = DATA.metrics;
    const T = (name) => (row) => text(M[name][row]);
    const named = (row) => `${T("metric")(row)} ${T("slice")(row)}`;
    const kind = (row) => T("slice")(row).split("=")[0];
    explorer(document.getElementById("metrics"), M.value.length, [
      { title: "Judge", value: T("judge") },
      { title: "Task", value: T("task") },
      { title: "Evidence", value: T("representation") },
      { title: "Metric", value: named, cell: (row) => [T("metric")(row), T("slice")(row) !== "all" && el("small", {}, T("slice")(row))].filter(Boolean) },
      { title: "Value", value: (row) => M.value[row], cell: (row) => fixed(M.value[row]), numeric: true },
      { title: "95% interval", value: (row) => M.ci_low[row], cell: (row) => interval(M.ci_low[row], M.ci_high[row]), numeric: true },
      { title: "", value: () => null, cell: (row) => UNBOUNDED.test(T("metric")(row)) ? "" : plot(M.value[row], M.ci_low[row], M.ci_high[row], T("metric")(row).startsWith("delta_")) },
      { title: "Read", about: "items that were answered and read", value: (row) => M.n_ok[row], cell: (row) => count(M.n_ok[row]), numeric: true },
      { title: "Planned", about: "items behind the number", value: (row) => M.n_planned[row], cell: (row) => count(M.n_planned[row]), numeric: true },
      { title: "Groups", about: "trajectory groups in the denominator", value: (row) => M.n_groups[row], cell: (row) => count(M.n_groups[row]), numeric: true },
      { title: "Flag", value: (row) => T("flag")(row)?.replaceAll("_", " ") ?? null, cell: (row) => T("flag")(row)?.replaceAll("_", " ") ?? "", kind: "flagged" },
    ], [
      { label: "judge", key: T("judge") },
      { label: "task", key: T("task") },
      { label: "evidence", key: T("representation") },
      { label: "family", key: T("family"), initial: "headline" },
      { label: "metric", key: T("metric") },
      { label: "slice", key: kind, initial: "all", values: [["all", "all items"], ...[...new Set(M.slice.map((_, row) => kind(row)))].filter((name) => name !== "all").map((name) => [name, `by ${name}`])], all: "every slice" },
      { label: "denominator", key: T("protocol"), initial: "all", values: [["all", "all planned"], ["eligible", "read only"]], all: "both" },
    ], (row) => [
      ["interval", T("ci_method")(row)],
      ["bootstrap over groups", M.boot_low[row] === null ? null : interval(M.boot_low[row], M.boot_high[row])],
      ["bootstrap over environments", M.env_low[row] === null ? null : interval(M.env_low[row], M.env_high[row])],
      ["environments", M.n_envs[row]],
      ["if all that was not read had been wrong, or right", M.bound_low[row] === null || M.bound_low[row] === M.bound_high[row] ? null : interval(M.bound_low[row], M.bound_high[row])],
      ["note", T("reason")(row)],
    ], [{ label: "flagged only", holds: (row) => M.flag[row] >= 0 }]);
  }

  function comparisons() {
    const C = DATA.comparisons;
    const T = (name) => (row) => text(C[name][row]);
    const named = (row) => `${T("metric")(row)} ${T("slice")(row)}`;
    const chance = (value) => (value === null ? "–" : value < 0.0001 ? "< 0.0001" : fixed(value, 4));
    explorer(document.getElementById("comparisons"), C.difference.length, [
      { title: "Judge", value: T("judge") },
      { title: "Against", value: T("against") },
      { title: "Task", value: T("task") },
      { title: "Evidence", value: T("representation") },
      { title: "Metric", value: named, cell: (row) => [T("metric")(row), T("slice")(row) !== "all" && el("small", {}, T("slice")(row))].filter(Boolean) },
      { title: "Difference", value: (row) => C.difference[row], cell: (row) => fixed(C.difference[row]), numeric: true },
      { title: "95% interval", value: (row) => C.ci_low[row], cell: (row) => interval(C.ci_low[row], C.ci_high[row]), numeric: true },
      { title: "", value: () => null, cell: (row) => T("metric")(row).startsWith("LES") ? "" : plot(C.difference[row], C.ci_low[row], C.ci_high[row], true) },
      { title: "Only one right", about: "pairs in which only the first, and only the second, is right", value: (row) => C.only_first[row], cell: (row) => C.only_first[row] === null ? "–" : `${count(C.only_first[row])} : ${count(C.only_second[row])}`, numeric: true },
      { title: "Groups", value: (row) => C.n_groups[row], cell: (row) => count(C.n_groups[row]), numeric: true },
      { title: "p (Holm)", value: (row) => C.p_holm[row], cell: (row) => chance(C.p_holm[row]), numeric: true },
    ], [
      { label: "what is compared", key: (row) => T("family")(row).split(":")[0], initial: "judges" },
      { label: "judge", key: T("judge") },
      { label: "against", key: T("against") },
      { label: "task", key: T("task") },
      { label: "metric", key: T("metric") },
    ], (row) => [
      ["family", T("family")(row)], ["test", T("test")(row)], ["p before Holm", C.p_value[row] === null ? null : chance(C.p_value[row])],
      ["interval", T("ci_method")(row)], ["pairs", C.n_pairs[row]], ["note", T("reason")(row)],
    ]);
  }

  // --- the viewer -----------------------------------------------------------------------------------------------------

  const ITEMS = DATA.items;
  const SEATS = DATA.seats;
  const FILTERS = ["task", "env", "variant", "presentation", "representation", "condition"];
  const MARKS = { right: "✓ right", wrong: "✗ wrong", unparsed: "? unparsed" };
  const ENTRY = 40;
  const viewer = document.getElementById("viewer");
  const place = new Map(ITEMS.uid.map((uid, index) => [uid, index]));
  const view = { at: -1, found: [], seat: -1, filters: null };

  function verdict(seat, item) {
    const status = text(seat.status[item]);
    if (status === "ok") return seat.correct[item] === 1 ? "right" : seat.correct[item] === 0 ? "wrong" : "answered";
    return status === "unparsed" ? "unparsed" : "unanswered";
  }
  const marked = (seat, item) => {
    const kind = verdict(seat, item);
    return el("span", { class: `mark ${kind}` }, MARKS[kind] ?? `– ${(text(seat.status[item]) ?? "").replaceAll("_", " ")}`);
  };
  const sign = (seat, item) => ({ right: "✓", wrong: "✗", unparsed: "?" })[verdict(seat, item)] ?? "–";

  function parameters() {
    const [name, rest] = location.hash.slice(1).split("?");
    return name === "items" ? new URLSearchParams(rest ?? "") : null;
  }
  function address(filters, uid) {
    const kept = new URLSearchParams([...filters].filter(([name, value]) => value && name !== "uid"));
    if (uid) kept.set("uid", uid);
    return `#items?${kept}`;
  }

  function matches(filters) {
    const seats = SEATS.filter((seat) => !filters.get("judge") || seat.label === filters.get("judge") || seat.judge === filters.get("judge"));
    const wanted = filters.get("verdict");
    const words = (filters.get("text") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const codes = FILTERS.filter((name) => filters.get(name)).map((name) => [ITEMS[name], DATA.strings.indexOf(filters.get(name))]);
    const found = [];
    for (let item = 0; item < ITEMS.uid.length; item++) {
      if (!codes.every(([column, code]) => column[item] === code)) continue;
      if (filters.get("group") && text(ITEMS.group_id[item]) !== filters.get("group")) continue;
      if (filters.get("kind") === "base" && ITEMS.companion[item] >= 0) continue;
      if (filters.get("kind") === "companions" && ITEMS.companion[item] < 0) continue;
      if (words.length) {
        const uid = ITEMS.uid[item].toLowerCase();
        if (!words.every((word) => uid.includes(word) || seats.some((seat) => (text(seat.text[item]) ?? "").toLowerCase().includes(word)))) continue;
      }
      if (wanted === "disagree") {
        if (new Set(SEATS.map((seat) => verdict(seat, item))).size < 2) continue;
      } else if (wanted && !seats.some((seat) => verdict(seat, item) === wanted)) continue;
      found.push(item);
    }
    return found;
  }

  function route() {
    const filters = parameters();
    const opened = viewer.hidden;
    viewer.hidden = !filters;
    document.body.style.overflow = filters ? "hidden" : "";
    if (!filters) return;
    const uid = filters.get("uid");
    filters.delete("uid");
    if (opened || String(view.filters) !== String(filters)) {
      view.filters = filters;
      view.found = matches(filters);
      frame();
    }
    const asked = SEATS.findIndex((seat) => seat.label === filters.get("judge") || seat.judge === filters.get("judge"));
    if (asked >= 0 && opened) view.seat = asked;
    let item = uid === null ? view.found[0] : place.get(uid);
    if (uid !== null && item === undefined) item = view.found[0];
    view.at = item === undefined ? -1 : item;
    if (view.seat < 0 || view.seat >= SEATS.length) view.seat = Math.max(0, asked);
    show();
  }
  /** Show an item of the same filters. Not by way of the address, which follows too late for a key that is held down. */
  function go(item) {
    view.at = item;
    show();
    history.replaceState(null, "", address(view.filters, ITEMS.uid[item]));
  }
  const close = () => { history.length > 1 && view.came ? history.back() : (location.hash = "#judges"); };
  function step(by) {
    const at = view.found.indexOf(view.at);
    const next = at < 0 ? view.found[0] : view.found[at + by];
    if (next !== undefined) go(next);
  }

  const parts = {};
  /** The bar with its filters and the empty panes. */
  function frame() {
    const filters = view.filters;
    const set = (name) => (value) => {
      const changed = new URLSearchParams(filters);
      value ? changed.set(name, value) : changed.delete(name);
      if (name === "judge") view.seat = SEATS.findIndex((seat) => seat.label === value);
      location.replace(address(changed, null));
    };
    parts.where = el("span", { class: "where", "aria-live": "polite" });
    parts.previous = el("button", { onclick: () => step(-1), title: "Left arrow or k" }, "‹ Previous");
    parts.next = el("button", { onclick: () => step(1), title: "Right arrow or j" }, "Next ›");
    const labels = { task: "task", env: "environment", variant: "variant", presentation: "presentation", representation: "evidence", condition: "condition" };
    const controls = el("div", { class: "controls" },
      SEATS.length && choice("judge", SEATS.map((seat) => seat.label), filters.get("judge") ?? "", set("judge"), "any judge"),
      SEATS.length && choice("verdict", [["wrong", "wrong"], ["right", "right"], ["unparsed", "unparsed"], ["unanswered", "unanswered"], ["disagree", "judges disagree"]], filters.get("verdict") ?? "", set("verdict"), "any verdict"),
      FILTERS.map((name) => choice(labels[name], distinct(ITEMS[name]).sort(), filters.get(name) ?? "", set(name))),
      choice("items", [["base", "base items"], ["companions", "companions"]], filters.get("kind") ?? "", set("kind")),
      el("label", {}, "uid or answer", el("input", { type: "search", value: filters.get("text") ?? "", onchange: (event) => set("text")(event.target.value) })),
      filters.get("group") && el("button", { onclick: () => set("group")("") }, `× group ${filters.get("group")}`));
    parts.entries = el("div");
    parts.list = el("div", { class: "list", onscroll: entries }, parts.entries);
    parts.item = el("div", { class: "item", tabindex: -1 });
    parts.side = el("div", { class: "side" });
    viewer.replaceChildren(
      el("div", { class: "bar" }, el("div", { class: "line" },
        el("button", { onclick: close, title: "Escape" }, "× Report"), parts.previous, parts.where, parts.next,
        el("span", { class: "keys" }, "← → previous, next · Esc report")), controls),
      parts.list, parts.item, parts.side);
    parts.item.focus({ preventScroll: true });
  }

  /** The entries of the list that are in sight. */
  function entries() {
    const top = parts.list.scrollTop;
    const first = Math.max(0, Math.floor(top / ENTRY) - 5);
    const last = Math.min(view.found.length, Math.ceil((top + parts.list.clientHeight) / ENTRY) + 5);
    parts.entries.style.height = `${view.found.length * ENTRY}px`;
    const seat = SEATS[view.seat];
    parts.entries.replaceChildren(...view.found.slice(first, last).map((item, index) => {
      const entry = el("a", { class: "entry", href: address(view.filters, ITEMS.uid[item]), "aria-current": item === view.at && "true",
        onclick: (event) => { event.preventDefault(); go(item); } },
        `${seat ? sign(seat, item) + " " : ""}${text(ITEMS.task[item])} · ${text(ITEMS.group_id[item])}`,
        el("small", {}, [text(ITEMS.variant[item]), text(ITEMS.condition[item]), ...(text(ITEMS.condition[item]) ? [] : [text(ITEMS.presentation[item]), text(ITEMS.representation[item])])].filter(Boolean).join(" · ")));
      entry.style.top = `${(first + index) * ENTRY}px`;
      return entry;
    }));
  }

  function show() {
    const item = view.at;
    const at = view.found.indexOf(item);
    parts.where.textContent = item < 0 ? "nothing matches" : at < 0 ? `outside the filter (${count(view.found.length)} match)` : `${count(at + 1)} of ${count(view.found.length)}`;
    parts.previous.disabled = at <= 0;
    parts.next.disabled = at < 0 ? !view.found.length : at + 1 >= view.found.length;
    if (at >= 0) {
      const top = at * ENTRY;
      if (top < parts.list.scrollTop || top + ENTRY > parts.list.scrollTop + parts.list.clientHeight) parts.list.scrollTop = top - parts.list.clientHeight / 2;
    }
    entries();
    if (item < 0) { parts.item.replaceChildren(el("p", {}, "No item matches these filters.")); parts.side.replaceChildren(); return; }
    const options = ITEMS.options[item];
    const gold = text(ITEMS.gold[item]);
    const facts = [text(ITEMS.env[item]), text(ITEMS.variant[item]), text(ITEMS.condition[item]), text(ITEMS.presentation[item]), text(ITEMS.representation[item])];
    parts.item.replaceChildren(
      el("h2", {}, ITEMS.uid[item].split(".").map((part, index) => [index ? "." : null, index ? el("wbr") : null, part])),
      el("p", { class: "facts" }, `Task ${text(ITEMS.task[item])} · `, facts.filter(Boolean).join(" · "),
        ITEMS.steps[item]?.length ? ` · steps ${ITEMS.steps[item].join(", ")}` : "",
        text(ITEMS.reference[item]) ? ` · reference ${text(ITEMS.reference[item])}` : ""),
      el("p", { class: "gold" }, "Gold: ", text(ITEMS.task[item]) === "B" ? "the scene on the right" : el("b", {}, gold ?? "unknown"),
        options ? ` · ${options.map((option, index) => `${"ABCDEFGH"[index]}: ${option}`).join(", ")}` : ""),
      pictures(item),
      el("p", { class: "label" }, "Prompt"),
      el("p", { class: "prompt" }, text(ITEMS.prompt[item])));
    parts.item.scrollTop = 0;
    side(item);
  }

  function pictures(item) {
    const numbers = ITEMS.pictures[item];
    if (!numbers.length) return el("p", { class: "note" }, "The pictures of this item are not in the store.");
    return el("div", { class: numbers.length > 1 ? "pictures several" : "pictures one" }, numbers.map((number, index) => {
      const [width, height, bytes, embedded] = DATA.pictures[number];
      const caption = numbers.length > 1 && el("figcaption", {}, `picture ${index + 1} of ${numbers.length}`);
      if (!embedded) return el("figure", {}, el("div", { class: "absent" }, `A picture of ${width} × ${height} (${count(Math.ceil(bytes / 1024))} KB), not in this file: its size is bounded. It is in the exam's table images.`), caption);
      const image = el("img", { width, height, alt: `picture ${index + 1} as the judge got it`, onclick: () => image.classList.toggle("large") });
      fill(image, number);
      return el("figure", {}, image, caption);
    }));
  }
  /** Pictures stand behind this script in the file; one that has not been read yet comes when the page is complete. */
  function fill(image, number) {
    const source = document.getElementById(`p${number}`);
    if (source) image.src = `data:image/png;base64,${source.textContent}`;
    else document.addEventListener("DOMContentLoaded", () => fill(image, number), { once: true });
  }

  function side(item) {
    const seat = SEATS[view.seat];
    parts.side.replaceChildren(
      SEATS.length ? el("p", { class: "label" }, "Verdicts") : el("p", { class: "note" }, "No judge has been asked in this run."),
      SEATS.length ? el("table", { class: "verdicts" }, el("tbody", {}, SEATS.map((each, index) => el("tr", {
        "aria-selected": String(index === view.seat), onclick: () => { view.seat = index; entries(); side(item); } },
      el("th", {}, each.label), el("td", {}, marked(each, item)), el("td", {}, read(each, item)))))) : "",
      ...(seat ? answer(seat, item) : []),
      ...kin(item, seat));
  }
  const read = (seat, item) => text(ITEMS.task[item]) === "B"
    ? (seat.score[item] === null ? "–" : `score ${fixed(seat.score[item], 2)}`)
    : (text(seat.value[item]) ?? "–");

  /** A scene of Task B as lines, objects sorted, so that two scenes can be held against each other. */
  function lines(json) {
    let scene;
    try { scene = JSON.parse(json); } catch { return [json]; }
    const plain = (value) => value === null ? "nothing" : typeof value !== "object" ? String(value) : Array.isArray(value) ? `[${value.map(plain).join(", ")}]`
      : Object.entries(value).map(([name, each]) => (name === "pos" ? `at ${plain(each)}` : name === "type" || name === "color" ? (each === null ? "" : plain(each)) : each === null ? "" : `${name} ${plain(each)}`)).filter(Boolean).join(" ");
    if (scene === null || typeof scene !== "object") return [plain(scene)];
    const { agent, front_cell: front, objects, ...rest } = scene;
    return [
      ...Object.entries({ pos: null, dir: null, ...agent }).map(([name, value]) => `${name} ${plain(value)}`),
      `ahead ${plain(front ?? null)}`,
      ...(Array.isArray(objects) ? objects.map(plain).sort() : [plain(objects ?? null)]),
      ...Object.entries(rest).map(([name, value]) => `${name} ${plain(value)}`),
    ];
  }
  const scene = (own, other) => {
    const there = new Set(other);
    return el("pre", { class: "answer" }, own.map((line) => there.has(line) ? `  ${line}\n` : el("b", {}, `≠ ${line}\n`)));
  };

  function answer(seat, item) {
    const described = text(ITEMS.task[item]) === "B";
    const gold = described ? lines(text(ITEMS.gold[item])) : [];
    const stated = described && text(seat.value[item]) !== null ? lines(text(seat.value[item])) : null;
    const shown = text(seat.text[item]);
    const mode = text(seat.mode[item]);
    const pairs = [
      ["parsed", described ? null : text(seat.value[item]) ?? "nothing"],
      ["how", mode === null ? null : [mode === "none" ? "not readable" : mode, text(seat.recovery[item]), text(seat.reason[item])].filter(Boolean).join(": ")],
      ["counts as", text(seat.failure[item])?.replaceAll("_", " ") ?? null],
      ["status", text(seat.status[item]) === "ok" ? null : text(seat.status[item])],
      ["finish", text(seat.finish[item]) === "stop" ? null : text(seat.finish[item])],
      ["error", text(seat.error[item])],
      ["took", seat.latency[item] === null ? null : `${count(seat.latency[item])} ms`],
      ["tokens", seat.tokens[item] === null ? null : count(seat.tokens[item])],
    ].filter(([, value]) => value !== null && value !== "");
    const components = JSON.parse(text(seat.components[item]) ?? "{}");
    return [
      el("p", { class: "label" }, `Answer of ${seat.label}`),
      shown === null ? el("p", { class: "note" }, "There is no answer.") : el("pre", { class: "answer", dir: "auto" }, shown),
      text(seat.reasoning[item]) !== null && el("details", {}, el("summary", {}, "Reasoning"), el("pre", { class: "answer", dir: "auto" }, text(seat.reasoning[item]))),
      el("dl", { class: "pairs" }, pairs.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]),
        Object.entries(components).map(([name, value]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, fixed(value, 2))])),
      described && el("p", { class: "label" }, "Gold"), described && scene(gold, stated ?? gold),
      stated && el("p", { class: "label" }, "As it was read"), stated && scene(stated, gold),
    ].filter(Boolean);
  }

  /** Items of the same task and group, as a table of variants by presentations, each marked with the judge's verdict. */
  function kin(item, seat) {
    const relatives = [];
    const elsewhere = new Map();
    for (let other = 0; other < ITEMS.uid.length; other++) {
      if (ITEMS.group_id[other] !== ITEMS.group_id[item]) continue;
      if (ITEMS.task[other] === ITEMS.task[item]) relatives.push(other);
      else elsewhere.set(text(ITEMS.task[other]), (elsewhere.get(text(ITEMS.task[other])) ?? 0) + 1);
    }
    const group = text(ITEMS.group_id[item]);
    const task = text(ITEMS.task[item]);
    const single = ["A", "B", "E"].includes(task);
    const row = (other) => task === "A" || task === "B" ? `step ${ITEMS.steps[other]?.[0]}` : task === "E" ? text(ITEMS.condition[other])?.replaceAll("_", " ") : text(ITEMS.presentation[other]);
    const column = (other) => task === "A" ? text(ITEMS.condition[other]) : single ? "" : [text(ITEMS.variant[other]), text(ITEMS.representation[other])].filter(Boolean).join(" ");
    const both = new Set(relatives.map((other) => ITEMS.representation[other])).size > 1;
    const short = (title) => !both ? title.replace(/ (composite|split)$/, "") : title.replace("composite", "C").replace("split", "S");
    const rows = [...new Set(relatives.map(row))];
    const columns = [...new Set(relatives.map(column))];
    const cell = (name, title) => relatives.filter((other) => row(other) === name && column(other) === title).map((other) =>
      el("a", { class: seat && verdict(seat, other), href: address(view.filters, ITEMS.uid[other]), title: ITEMS.uid[other], "aria-current": other === item && "true",
        onclick: (event) => { event.preventDefault(); go(other); } }, seat ? sign(seat, other) : "•"));
    const others = [...elsewhere].map(([name, number]) => `${number} of Task ${name}`).join(", ");
    return [
      el("p", { class: "label" }, `Task ${task} of ${group}${seat ? `, ${seat.label}` : ""}`),
      el("table", { class: "kin" }, el("thead", {}, el("tr", {}, el("th"), columns.map((title) => el("th", { title }, short(title))))),
        el("tbody", {}, rows.map((name) => el("tr", {}, el("th", {}, name), columns.map((title) => el("td", {}, cell(name, title))))))),
      el("p", { class: "note" }, el("a", { href: address(new URLSearchParams({ group, judge: seat?.label ?? "" }), ITEMS.uid[item]) }, `All items of ${group}`), others ? ` (also ${others})` : ""),
    ];
  }

  document.addEventListener("keydown", (event) => {
    if (viewer.hidden || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") { close(); return; }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const by = { ArrowRight: 1, j: 1, ArrowLeft: -1, k: -1 }[event.key];
    if (by) { event.preventDefault(); step(by); }
  });
  document.addEventListener("click", (event) => { if (event.target.closest?.('a[href^="#items?"]')) view.came = true; });
  addEventListener("hashchange", route);
  metrics();
  comparisons();
  route();
})();
