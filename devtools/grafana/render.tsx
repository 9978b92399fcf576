// SPDX-License-Identifier: BSD-3-Clause
// The page that devtools/boards/draw.py opens: queries Prometheus as Grafana does and draws a dashboard with Grafana's panels.
import 'uplot/dist/uPlot.min.css';
import * as React from 'react';
import { createRoot } from 'react-dom/client';
import { applyFieldOverrides, createTheme, dateTime, FieldType, getFieldDisplayValues, LoadingState, standardFieldConfigEditorRegistry, standardEditorsRegistry,
  toDataFrame, ThemeContext, FieldConfigSource, DataFrame, FieldConfigPropertyItem, identityOverrideProcessor, unitOverrideProcessor, numberOverrideProcessor,
  displayNameOverrideProcessor, thresholdsOverrideProcessor, valueMappingsOverrideProcessor, stringOverrideProcessor, getDisplayProcessor } from '@grafana/data';
import { BigValue, BarGauge, PanelChrome, Table, TimeSeries, GlobalStyles, getAllStandardFieldConfigs } from './shim';

const q = new URLSearchParams(location.search);
const theme = createTheme({ colors: { mode: q.get('theme') === 'light' ? 'light' : 'dark' } });
const to = Math.floor(Date.now() / 1000), seconds = Number(q.get('seconds') ?? 120), from = to - seconds;
const range = { from: dateTime(from * 1000), to: dateTime(to * 1000), raw: { from: `now-${seconds}s`, to: 'now' } };
const WIDTH = 1600, COLUMN = (WIDTH - 16) / 24, ROW = 38;
// Errors, queries without data and clipped parts. The title of the page shows them to draw.py.
const problems: string[] = [];
(window as any).problems = problems;

// Grafana repeats a row and the panels below it once per value of a variable.
function repeated(panels: any[]): any[] {
  const values = (q.get('repeat') ?? '').split('\n'), out: any[] = [];
  let more = 0;
  for (let i = 0; i < panels.length;) {
    let end = i + 1;
    while (end < panels.length && panels[end].type !== 'row') end++;
    const section = panels.slice(i, end), top = panels[i].gridPos.y, height = Math.max(...section.map((p) => p.gridPos.y + p.gridPos.h)) - top;
    const { repeat } = panels[i], chosen = repeat ? values : [''];
    chosen.forEach((value, at) => out.push(...section.map((p) => JSON.parse(JSON.stringify({ ...p, gridPos: { ...p.gridPos, y: p.gridPos.y + more + at * height } }), (_, text) =>
      typeof text === 'string' && repeat ? text.replaceAll(`\${${repeat}:raw}`, value).replaceAll(`$${repeat}`, value.replace(/.*service_group="(.*)"/, '$1')) : text))));
    more += (chosen.length - 1) * height;
    i = end;
  }
  return out;
}
// PromQL with the values of Grafana's variables. `step`: seconds between two points.
function substitute(expr: string, variables: any[], step: number): string {
  let e = expr.replace(/\$__rate_interval|\$\{__rate_interval\}/g, `${Math.max(step * 4, 10)}s`).replace(/\$__interval/g, `${step}s`).replace(/\$__range/g, `${seconds}s`);
  for (const v of variables) {
    const value = q.get(`var-${v.name}`) ?? v.current?.value ?? '.*';
    const text = [value].flat().includes('$__all') ? v.allValue || '.*' : [value].flat().join('|');
    e = e.replace(new RegExp(`\\$${v.name}\\b|\\$\\{${v.name}(:[a-z]+)?\\}|\\[\\[${v.name}\\]\\]`, 'g'), text);
  }
  return e;
}
const legend = (format: string | undefined, labels: any, expr: string) =>
  format && format !== '__auto' ? format.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, k) => labels[k] ?? `{{${k}}}`) : Object.keys(labels).length ? JSON.stringify(labels) : expr;

// Queries Prometheus. A data frame per series, or one for a table.
async function run(target: any, variables: any[], title: string): Promise<DataFrame[]> {
  const step = Math.max(1, Math.floor(seconds / 200));
  const expr = substitute(target.expr, variables, step);
  const url = target.instant ? `/api/v1/query?time=${to}` : `/api/v1/query_range?start=${from}&end=${to}&step=${step}`;
  const r = await (await fetch(`${q.get('prometheus') ?? ''}${url}&query=${encodeURIComponent(expr)}`)).json();
  if (r.status !== 'success') { problems.push(`${title}: ${r.error}: ${expr}`); return []; }
  if (!r.data.result.length) problems.push(`${title}: no data: ${expr}`);
  if (target.format === 'table') {
    const names = [...new Set(r.data.result.flatMap((s: any) => Object.keys(s.metric)))] as string[];
    return [toDataFrame({ refId: target.refId, fields: [{ name: 'Time', type: FieldType.time, values: r.data.result.map((s: any) => s.value[0] * 1000) },
      ...names.map((n) => ({ name: n, type: FieldType.string, values: r.data.result.map((s: any) => s.metric[n] ?? '') })),
      { name: `Value${target.refId ? ' #' + target.refId : ''}`, type: FieldType.number, values: r.data.result.map((s: any) => Number(s.value[1])) }] })];
  }
  return r.data.result.map((s: any) => {
    const { __name__, ...labels } = s.metric, points = s.values ?? [s.value];
    return toDataFrame({ refId: target.refId, name: __name__, fields: [{ name: 'Time', type: FieldType.time, values: points.map((p: any) => p[0] * 1000) },
      { name: 'Value', type: FieldType.number, labels, config: { displayNameFromDS: legend(target.legendFormat, labels, expr) }, values: points.map((p: any) => Number(p[1])) }] });
  });
}

function fields(frames: DataFrame[], source: FieldConfigSource): DataFrame[] {
  const out = applyFieldOverrides({ data: frames, fieldConfig: source, replaceVariables: (v) => v, theme, timeZone: 'utc', fieldConfigRegistry: standardFieldConfigEditorRegistry });
  for (const f of out) for (const field of f.fields) if (field.type !== FieldType.time) {
    field.config.custom = { drawStyle: 'line', lineWidth: 1, ...(source.defaults.custom as any), ...(field.config.custom as any) };
    field.display = field.display ?? getDisplayProcessor({ field, theme });
  }
  return out;
}

function Body({ panel, frames, width, height }: any) {
  if (!frames.length) return <div style={{ padding: 8, color: theme.colors.text.secondary }}>No data</div>;
  panel.fieldConfig = panel.fieldConfig ?? { defaults: {}, overrides: [] };
  panel.fieldConfig.defaults.color ??= { mode: panel.type === 'timeseries' ? 'palette-classic' : 'thresholds' };
  panel.fieldConfig.defaults.thresholds ??= { mode: 'absolute', steps: [{ value: null, color: 'green' }, { value: 80, color: 'red' }] };
  const data = fields(frames, panel.fieldConfig);
  const displays = () => getFieldDisplayValues({ fieldConfig: panel.fieldConfig, reduceOptions: panel.options?.reduceOptions ?? { calcs: ['lastNotNull'] }, replaceVariables: (v: string) => v, theme, data, sparkline: panel.options?.graphMode !== 'none', timeZone: 'utc' });
  if (panel.type === 'timeseries')
    return <TimeSeries frames={data} width={width} height={height} timeRange={range as any} timeZone="utc" legend={{ showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [], ...panel.options?.legend }} options={panel.options} />;
  if (panel.type === 'stat')
    return <div style={{ display: 'flex', gap: 4 }}>{displays().map((d, i, all) => <BigValue key={i} value={d.display} width={width / all.length - 4} height={height} theme={theme} colorMode={panel.options?.colorMode ?? 'value'} graphMode={panel.options?.graphMode ?? 'area'} textMode={panel.options?.textMode ?? 'auto'} justifyMode={panel.options?.justifyMode ?? 'auto'} sparkline={d.sparkline} count={all.length} />)}</div>;
  if (panel.type === 'bargauge' || panel.type === 'gauge')
    return <div>{displays().map((d, i, all) => <BarGauge key={i} value={d.display} field={d.field} width={width} height={Math.min(height / all.length - 4, panel.options?.maxVizHeight ?? 300)} theme={theme} orientation={'horizontal' as any} displayMode={panel.options?.displayMode ?? 'gradient'} text={panel.options?.text} display={d.view?.getFieldDisplayProcessor?.(d.colIndex!)} />)}</div>;
  if (panel.type === 'table') return <Table data={data[0]} width={width} height={height} />;
  problems.push(`${panel.title}: panel type ${panel.type} is not drawn here`);
  return <div style={{ color: 'orange' }}>type {panel.type} is not drawn here</div>;
}

// Reports panels with content that does not fit, such as a legend that scrolls.
function reportClipped() {
  for (const panel of document.querySelectorAll<HTMLElement>('[data-title]'))
    for (const e of panel.querySelectorAll<HTMLElement>('*'))
      if (getComputedStyle(e).overflowY !== 'visible' && e.scrollHeight > e.clientHeight + 4 && e.clientHeight > 0) { problems.push(`${panel.dataset.title}: clipped`); break; }
}

class Boundary extends React.Component<any, any> {
  state = { error: '' };
  static getDerivedStateFromError(e: any) { return { error: String(e.message) }; }
  componentDidCatch(e: any) { problems.push(`${this.props.title}: ${e.message}`); }
  render() { return this.state.error ? <pre style={{ color: 'red' }}>{this.state.error}</pre> : this.props.children; }
}
async function main() {
  standardEditorsRegistry.setInit(() => []);
  standardFieldConfigEditorRegistry.setInit(getAllStandardFieldConfigs);
  const dash = await (await fetch(q.get('dashboard')!)).json();
  const variables = dash.templating?.list ?? [];
  const panels = repeated(dash.panels.flatMap((p: any) => [p, ...(p.panels ?? [])]));
  const drawn = await Promise.all(panels.map(async (p: any) => ({ p, frames: (await Promise.all((p.targets ?? []).filter((t: any) => t.expr).map((t: any) => run(t, variables, p.title)))).flat() })));
  const bottom = Math.max(...panels.map((p: any) => p.gridPos.y + p.gridPos.h));
  document.body.style.background = theme.colors.background.canvas; document.body.style.margin = '0';
  createRoot(document.getElementById('root')!).render(<ThemeContext.Provider value={theme}><GlobalStyles />
    <h3 style={{ padding: '8px 12px', margin: 0 }}>{dash.title}</h3><div style={{ position: 'relative', width: WIDTH, height: bottom * ROW, margin: 8 }}>
    {drawn.map(({ p, frames }: any, i: number) => { const g = p.gridPos, w = g.w * COLUMN - 8, h = g.h * ROW - 8;
      return <div key={i} data-title={p.title} style={{ position: 'absolute', left: g.x * COLUMN, top: g.y * ROW, width: w, height: h }}>{p.type === 'row' ? <b>{p.title}</b> :
        <PanelChrome title={p.title} description={p.description} width={w} height={h} loadingState={LoadingState.Done}>{(iw: number, ih: number) => <Boundary title={p.title}><Body panel={p} frames={frames} width={iw} height={ih} /></Boundary>}</PanelChrome>}</div>; })}</div></ThemeContext.Provider>);
  setTimeout(() => { reportClipped(); document.title = problems.length ? `PROBLEMS: ${problems.join(' | ')}` : 'OK'; const e = document.createElement('pre'); e.id = 'problems'; e.textContent = JSON.stringify(problems); e.style.display = 'none'; document.body.append(e); }, 500);
}
main().catch((e) => { document.body.innerText = String(e.stack); });
