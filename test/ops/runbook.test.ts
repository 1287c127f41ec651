import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const rules = readFileSync('ops/alerts.yml', 'utf8');
const repair = readFileSync('docs/operations/repair.md', 'utf8');
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const runbook = repair.slice(repair.indexOf('## Runbook'));

describe('the runbook', () => {
  it('has a section for every alert, and none besides', () => {
    const sections = [...runbook.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(sections.toSorted()).toEqual(alerts.toSorted());
  });

  it('is linked by every alert, each to its own section', () => {
    const links = [...rules.matchAll(/runbook: docs\/operations\/repair\.md#(\w+)/g)].map(
      ([, anchor]) => anchor,
    );
    expect(links).toEqual(alerts.map((name) => name.toLowerCase()));
  });

  it('says something about each', () => {
    for (const section of runbook.split(/^### /m).slice(1))
      expect(section.trim().split('\n').length, section).toBeGreaterThan(1);
  });

  it('stands beside a table in watch.md that explains every metric of the service', () => {
    const table = readFileSync('docs/operations/watch.md', 'utf8');
    const explained = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    const sources = ['src/telemetry/metrics.ts', 'src/telemetry/observe-gauges.ts']
      .map((file) => readFileSync(file, 'utf8'))
      .join('');
    const made = [...sources.matchAll(/(?:name: |\bgauge\(\s*)'(\w+)'/g)].map(([, name]) => name);
    expect(explained.toSorted()).toEqual(made.toSorted());
  });
});

describe('the alerts', () => {
  it('ask for jobs that are scraped, the Temporal server among them, at ports that docker-compose.yml opens', () => {
    const scrape = readFileSync('ops/prometheus.yml', 'utf8');
    const asked = new Set(
      [...rules.matchAll(/job=~?"([\w|]+)"/g)].flatMap(([, jobs = '']) => jobs.split('|')),
    );
    const scraped = [...scrape.matchAll(/job_name: (\w+)/g)].map(([, job]) => job);
    expect(scraped.toSorted()).toEqual([...asked].toSorted());
    expect(scraped).toContain('temporal');
    const compose = readFileSync('docker-compose.yml', 'utf8');
    for (const [, port] of scrape.matchAll(/port: (\d+)/g))
      expect(compose).toMatch(new RegExp(`_(PORT|ENDPOINT): \\S*${port}`));
  });
});
