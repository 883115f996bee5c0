// Draws the charts of the metrics page with Chart.js, in the colours of the page, from the JSON that the page carries.

/**
 * @typedef {object} ChartData as the page carries it
 * @property {string[]} labels days, weeks or months
 * @property {Record<string, number[]>} outcomes
 * @property {number[]} yield in percent
 * @property {Record<string, number[]>} retries
 * @property {{ name: string, usd: number }[]} costs
 * @property {{ kind: string, mean: number, longest: number }[]} waiting in minutes
 * @property {Record<string, { said: number, held: number, count: number }[]>} confidence in percent
 * @property {{ text: string, other: number, unsupported: number }[]} failing
 */

/**
 * @param {ChartData} data
 * @param {any} Chart of the library
 */
function show(data, Chart) {
  /** @type {any[]} */
  let drawn = [];

  function colours() {
    const style = getComputedStyle(document.documentElement);
    /** @param {string} name */
    const of = (name) => style.getPropertyValue(`--${name}`).trim();
    return {
      ink: of("ink-2"),
      line: of("line"),
      surface: of("surface"),
      font: of("font"),
      strong: of("ink"),
      good: of("good"),
      warn: of("chart-warn"),
      bad: of("bad"),
      calm: of("line-strong"),
      accent: of("accent"),
    };
  }

  const few = { maxTicksLimit: 5, padding: 6 };
  const whole = { ...few, precision: 0 };
  const days = { grid: { display: false }, ticks: { maxRotation: 0, maxTicksLimit: 7, autoSkipPadding: 12 } };
  /**
   * @param {string} text
   * @param {number} length
   */
  const cut = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

  /** @param {string} title */
  function axis(title, more = {}) {
    const border = { display: false };
    return { title: { display: Boolean(title), text: title }, beginAtZero: true, border, ticks: few, ...more };
  }
  /** @param {(value: number) => string} said a tick with its unit, which saves a title */
  const ticks = (said, more = {}) => ({ ticks: { ...few, callback: said, ...more } });

  /**
   * @param {string[]} labels
   * @param {Record<string, number[]>} sets
   * @param {Record<string, string>} colour
   */
  function stacked(labels, sets, colour) {
    const some = Object.entries(sets).filter(([, values]) => values.some(Boolean));
    const datasets = some.map(([label, values]) => ({
      label,
      data: values,
      backgroundColor: colour[label],
      maxBarThickness: 28,
    }));
    const scales = { x: { stacked: true, ...days }, y: axis("", { stacked: true, ticks: whole }) };
    return { type: "bar", data: { labels, datasets }, options: { scales, interaction: { mode: "index" } } };
  }

  /**
   * @param {string[]} labels
   * @param {object[]} datasets
   * @param {(value: number) => string} said
   * @returns {any} for Chart.js
   */
  function lying(labels, datasets, said) {
    const y = {
      border: { display: false },
      grid: { display: false },
      ticks: {
        callback: (/** @type {unknown} */ _, /** @type {number} */ place) =>
          cut(labels[place], window.innerWidth < 600 ? 18 : 34),
      },
    };
    const tooltip = {
      callbacks: { label: (/** @type {any} */ item) => `${item.dataset.label}: ${said(item.parsed.x)}` },
    };
    const scales = { x: axis("", ticks(said)), y };
    return { type: "bar", data: { labels, datasets }, options: { indexAxis: "y", scales, plugins: { tooltip } } };
  }

  const percents = ticks((value) => `${value} %`, { stepSize: 25 });

  /** @type {Record<string, (c: Record<string, string>) => object>} */
  const CHARTS = {
    outcomes: (c) => {
      const names = {
        succeeded: "Succeeded",
        partial: "Partial",
        failed: "Failed",
        cancelled: "Stopped",
        open: "Not finished",
      };
      const colour = { Succeeded: c.good, Partial: c.warn, Failed: c.bad, Stopped: c.calm, "Not finished": c.accent };
      const sets = Object.fromEntries(Object.entries(names).map(([key, name]) => [name, data.outcomes[key]]));
      return stacked(data.labels, sets, colour);
    },
    yield: (c) => ({
      type: "line",
      data: {
        labels: data.labels,
        datasets: [
          {
            label: "Passed at once",
            data: data.yield,
            borderColor: c.accent,
            backgroundColor: c.accent,
            spanGaps: true,
            clip: false,
            pointRadius: 3,
          },
        ],
      },
      options: {
        scales: {
          x: days,
          y: axis("", { max: 100, ...percents }),
        },
        plugins: {
          legend: { display: false },
          tooltip: { callbacks: { label: (/** @type {any} */ item) => `${item.parsed.y} %` } },
        },
      },
    }),
    retries: (c) => {
      const sets = { Recovered: data.retries.recovered, "Not recovered": data.retries["not recovered"] };
      return stacked(data.labels, sets, { Recovered: c.good, "Not recovered": c.bad });
    },
    costs: (c) => {
      const datasets = [
        { label: "Cost", data: data.costs.map((one) => one.usd), backgroundColor: c.accent, maxBarThickness: 24 },
      ];
      const chart = lying(
        data.costs.map((one) => one.name),
        datasets,
        (value) => `$${value}`,
      );
      chart.options.plugins.legend = { display: false };
      return chart;
    },
    waiting: (c) => {
      const datasets = [
        {
          label: "On average",
          data: data.waiting.map((one) => one.mean),
          backgroundColor: c.accent,
          maxBarThickness: 18,
        },
        {
          label: "Longest",
          data: data.waiting.map((one) => one.longest),
          backgroundColor: c.calm,
          maxBarThickness: 18,
        },
      ];
      const names = data.waiting.map((one) => one.kind[0].toUpperCase() + one.kind.slice(1));
      return lying(names, datasets, (value) => `${value && value < 1 ? value.toFixed(2) : Math.round(value)} min`);
    },
    confidence: (c) => {
      /** @param {any[]} rows */
      const points = (rows) => rows.map((one) => ({ x: one.said, y: one.held, count: one.count }));
      /**
       * @param {string} label
       * @param {any[]} rows
       * @param {string} colour
       * @param {string} pointStyle
       */
      const set = (label, rows, colour, pointStyle) => ({
        label,
        data: points(rows),
        borderColor: colour,
        backgroundColor: colour,
        pointStyle,
        pointRadius: 6,
        showLine: true,
        clip: false,
      });
      const ideal = {
        label: "Exact",
        data: [
          { x: 0, y: 0 },
          { x: 100, y: 100 },
        ],
        borderColor: c.calm,
        borderDash: [4, 4],
        borderWidth: 1,
        pointRadius: 0,
        showLine: true,
      };
      const percent = { min: 0, max: 100, ...percents };
      return {
        type: "scatter",
        data: {
          datasets: [
            set("Executor", data.confidence.executor, c.accent, "circle"),
            set("Verifier", data.confidence.verifier, c.warn, "rectRot"),
            ideal,
          ],
        },
        options: {
          scales: { x: axis("Confident", percent), y: axis("Held", percent) },
          plugins: {
            tooltip: {
              filter: (/** @type {any} */ item) => item.raw.count,
              callbacks: {
                label: (/** @type {any} */ item) =>
                  `${item.dataset.label}: ${item.raw.x} % confident, ${item.raw.y} % held, of ${item.raw.count}`,
              },
            },
          },
        },
      };
    },
    failing: (c) => {
      const datasets = [
        { label: "Failed", data: data.failing.map((one) => one.other), backgroundColor: c.bad, maxBarThickness: 20 },
        {
          label: "Claimed without evidence",
          data: data.failing.map((one) => one.unsupported),
          backgroundColor: c.warn,
          maxBarThickness: 20,
        },
      ];
      const chart = lying(
        data.failing.map((one) => one.text),
        datasets,
        String,
      );
      Object.assign(chart.options.scales.x, { stacked: true, ticks: whole });
      chart.options.scales.y.stacked = true;
      return chart;
    },
  };

  function draw() {
    const c = colours();
    for (const chart of drawn) chart.destroy();
    Chart.defaults.font.family = c.font;
    Chart.defaults.color = c.ink;
    Chart.defaults.borderColor = c.line;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.elements.bar.borderRadius = 2;
    Object.assign(Chart.defaults.plugins.legend, { position: "bottom", align: "start" });
    Object.assign(Chart.defaults.plugins.legend.labels, { boxWidth: 8, boxHeight: 8, usePointStyle: true });
    Object.assign(Chart.defaults.plugins.tooltip, {
      backgroundColor: c.strong,
      titleColor: c.surface,
      bodyColor: c.surface,
    });
    drawn = [...document.querySelectorAll("canvas[data-chart]")].map(
      (canvas) => new Chart(canvas, CHARTS[canvas.dataset.chart](c)),
    );
  }

  draw();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}

const given = document.getElementById("charts");
if (given && window.Chart) show(JSON.parse(given.textContent), window.Chart);
