// What changed since a date: the last visit, unless the command named one.

class News {
  constructor(graph) {
    Object.assign(this, { graph, since: null });
  }

  // Looks for what is new since the date of the command or the last visit.
  begin() {
    this.since = this.graph.info.since ?? lastVisit(this.graph.info);
  }

  set since(time) {
    this.time = time;
    this.counts = null;
  }

  get since() {
    return this.time;
  }

  isNew(index) {
    return this.time !== null && this.graph.node(index).changed > this.time;
  }

  // The number of positions that changed at a position and below it; each counts on the way where it was found first.
  below(index) {
    if (this.time === null) return 0;
    if (this.counts === null) this.count();
    return this.counts[index];
  }

  count() {
    const { graph, time } = this;
    const parents = new Int32Array(graph.size);
    this.counts = new Uint32Array(graph.size);
    this.list = [];
    graph.heads((index, parent, changed) => {
      parents[index] = parent;
      if (changed > time) {
        this.counts[index] = 1;
        this.list.push(index);
      }
    });
    // A position was found after the one that it was found from.
    for (let index = graph.size - 1; index >= 0; index--) {
      if (parents[index] >= 0) this.counts[parents[index]] += this.counts[index];
    }
  }

  // The positions that changed, the nearest to the roots first.
  all() {
    if (this.time === null) return [];
    if (this.counts === null) this.count();
    return this.list;
  }
}

// When the page that was looked at before this one was written; null if this is the first. A page that is loaded again
// stays as new as it was.
function lastVisit({ title, id, written }) {
  // All pages on disk share what the browser keeps.
  const name = `engram tree ${title} ${id}`;
  try {
    let visits = JSON.parse(localStorage.getItem(name)) || { last: null, before: null };
    if (visits.last !== written) visits = { last: written, before: visits.last };
    localStorage.setItem(name, JSON.stringify(visits));
    return visits.before;
  } catch {
    // Some browsers keep nothing for pages on disk.
    return null;
  }
}

const dayOf = (time) => new Date(1000 * time).toISOString().slice(0, 10);
