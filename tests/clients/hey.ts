// @hey-api/openapi-ts: every metric, told apart by `metric`; a report; a refusal.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { client } from "./made/hey/client.gen.js";
import * as api from "./made/hey/index.js";

const [url, examples] = process.argv.slice(2) as [string, string];
const bodies = JSON.parse(readFileSync(examples, "utf8"));
const headers = { prefer: "wait=30" };
client.setConfig({ baseUrl: url });

function demand(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

function demandEvery(metrics: string[]): void {
  const missing = Object.keys(bodies).filter((metric) => !metrics.includes(metric));
  demand(!missing.length, `not scored: ${missing}`);
}

async function ended(job: api.Job | undefined): Promise<api.Job> {
  demand(job, "no job came");
  let found: api.Job = job;
  while (found.status === "queued" || found.status === "running") {
    await sleep(500);
    const { data } = await api.getJob({ path: { job_id: found.id } });
    demand(data, "the job is not there");
    found = data;
  }
  return found;
}

const scored: api.Job[] = [
  await ended((await api.createScore({ headers, path: { metric: "cot2el" }, body: bodies.cot2el })).data),
  await ended((await api.createScore({ headers, path: { metric: "ftc" }, body: bodies.ftc })).data),
  await ended((await api.createScore({ headers, path: { metric: "haf" }, body: bodies.haf })).data),
  await ended((await api.createScore({ headers, path: { metric: "hatexscore" }, body: bodies.hatexscore })).data),
  await ended((await api.createScore({ headers, path: { metric: "hlv" }, body: bodies.hlv })).data),
  await ended((await api.createScore({ headers, path: { metric: "ice" }, body: bodies.ice })).data),
  await ended((await api.createScore({ headers, path: { metric: "sor" }, body: bodies.sor })).data),
  await ended((await api.createScore({ headers, path: { metric: "consistency" }, body: bodies.consistency })).data),
];
demandEvery(scored.map((job) => job.metric));
for (const job of scored) {
  demand(job.result && "verdict" in job.result, `${job.id} has no verdict`);
  console.log(`hey ${job.metric}: ${job.result.verdict}, ${job.result.reason}`);
  if (job.result.metric === "ice") {
    const rate: number | null | undefined = job.result.components.tests[0]?.win_rate;
    console.log(`hey ice: win rate ${rate}`);
  }
}

const asked = { metric: "ice" as const, jobs: [scored[5]!.id], resamples: 100 };
const report = await ended((await api.createReport({ headers, body: asked })).data);
demand(report.result && "scored" in report.result, report.status);
console.log(`hey report: ${report.result.scored} results`);

const refused = await api.createScore({ path: { metric: "ice" }, body: { text: "" } });
demand(refused.error?.status === 422, "it was not refused");
console.log(`hey refused: ${refused.error.error.message}`);
