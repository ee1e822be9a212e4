// Follows a run: the page is whole without it, and is then loaded again every few
// seconds. Nothing that the server sends is ever read as markup.
"use strict";
(() => {
  const main = document.getElementById("main");
  if (!main || !main.dataset.stream) return;
  const at = (id) => document.getElementById(id);
  const steps = at("steps"), said = at("said"), most = 200;
  let last = main.dataset.after, stream = null;

  const show = (e) => {
    const m = JSON.parse(e.data);
    last = e.lastEventId;
    at("phase").textContent = m.phase;
    at("rollouts").textContent = m.rollouts;
    at("of").textContent = m.of;
    at("best").textContent = m.best;
    at("left").textContent = m.left;
    at("cost").textContent = m.cost;
    at("bar").max = m.bar;
    at("bar").value = m.rollouts;
    for (const text of m.steps) {
      const li = document.createElement("li");
      li.textContent = text;
      steps.prepend(li);
    }
    while (steps.children.length > most) steps.lastElementChild.remove();
    if (said.textContent) said.textContent = "";
  };

  const follow = () => {
    if (stream) return;
    stream = new EventSource(main.dataset.stream + "?after=" + last);
    stream.onmessage = show;
    stream.addEventListener("end", () => {
      rest();
      location.reload();
    });
    stream.onerror = () => {
      said.textContent = stream.readyState === EventSource.CLOSED ? "The server does not answer any more; load the page again." : "Connecting again…";
    };
  };

  const rest = () => {
    if (stream) stream.close();
    stream = null;
  };

  // A tab that nobody sees asks for nothing, and takes none of the few connections
  // that a browser has for one host.
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : follow()));
  addEventListener("pagehide", rest);
  addEventListener("pageshow", () => document.hidden || follow());
})();
