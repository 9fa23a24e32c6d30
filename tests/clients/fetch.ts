// openapi-typescript and openapi-fetch: every metric, a batch, its report, and a refusal.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./made/schema.js";

type Schemas = components["schemas"];
const [url, examples] = process.argv.slice(2) as [string, string];
const bodies = JSON.parse(readFileSync(examples, "utf8"));
const client = createClient<paths>({ baseUrl: url });
const header = { prefer: "wait=30" };

function demand(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

function demandEvery(metrics: string[]): void {
  const missing = Object.keys(bodies).filter((metric) => !metrics.includes(metric));
  demand(!missing.length, `not scored: ${missing}`);
}

async function ended(job: Schemas["Job"] | undefined): Promise<Schemas["Job"]> {
  demand(job, "no job came");
  let found = job;
  while (found.status === "queued" || found.status === "running") {
    await sleep(500);
    const { data } = await client.GET("/v1/jobs/{job_id}", {
      params: { path: { job_id: found.id } },
    });
    demand(data, "the job is not there");
    found = data;
  }
  return found;
}

function told(job: Schemas["Job"]): string {
  const result = job.result;
  demand(result, `${job.id} ${job.status}: ${job.error?.error.message}`);
  demand("verdict" in result, `a job of ${job.metric} was not asked for`);
  switch (result.metric) {
    case "ice":
      return `${result.verdict}: ${result.components.tests[0]?.win_rate}`;
    case "hatexscore":
      return `${result.verdict}: ${result.components.qf}`;
    case "haf":
      return `${result.verdict}: ${result.components.sos}`;
    case "ftc":
      return `${result.verdict}: ${result.components.w}`;
    case "cot2el":
      return `${result.verdict}: ${result.components.faithfulness}`;
    case "hlv":
      return `${result.verdict}: ${result.components.kendall}`;
    case "sor":
      return `${result.verdict}: ${result.components.completeness}`;
    case "consistency":
      return `${result.verdict}: ${result.components.simulatability}`;
  }
}

const scored: Schemas["Job"][] = [
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "cot2el" } }, body: bodies.cot2el })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "ftc" } }, body: bodies.ftc })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "haf" } }, body: bodies.haf })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "hatexscore" } }, body: bodies.hatexscore })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "hlv" } }, body: bodies.hlv })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "ice" } }, body: bodies.ice })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "sor" } }, body: bodies.sor })).data),
  await ended((await client.POST("/v1/scores/{metric}", { params: { header, path: { metric: "consistency" } }, body: bodies.consistency })).data),
];
demandEvery(scored.map((job) => job.metric));
for (const job of scored) console.log(`fetch ${job.metric}: ${told(job)}`);

const asked = {
  metric: "hatexscore",
  jobs: [scored[3]!.id],
  resamples: 100,
} as Schemas["BatchReportRequest"];
const report = await ended(
  (await client.POST("/v1/reports", { params: { header }, body: asked })).data,
);
demand(report.result && "scored" in report.result, report.metric);
console.log(`fetch report: ${report.result.scored} of ${report.result.score.of}`);

const lines = [bodies.hatexscore, bodies.hatexscore].map((body, number) =>
  JSON.stringify({ custom_id: `${number}`, method: "POST", url: "/v1/scores/hatexscore", body }),
);
const form = new FormData();
form.append("purpose", "batch");
form.append("file", new Blob([`${lines.join("\n")}\n`]), "posts.jsonl");
const file = (
  await client.POST("/v1/files", {
    body: { purpose: "batch", file: "" },
    bodySerializer: () => form,
  })
).data;
demand(file, "the file was refused");
let batch = (
  await client.POST("/v1/batches", {
    body: { input_file_id: file.id, endpoint: "/v1/scores/hatexscore", completion_window: "24h" },
  })
).data;
demand(batch, "the batch was refused");
while (batch.completed_at === null) {
  await sleep(500);
  batch = (await client.GET("/v1/batches/{batch_id}", { params: { path: { batch_id: batch.id } } })).data;
  demand(batch && batch.failed_at === null, "the batch failed");
}
const made = await client.POST("/v1/batches/{batch_id}/report", {
  params: { path: { batch_id: batch.id }, header },
});
demand(made.data?.status === "succeeded", "no report was made");
const summed = await client.GET("/v1/batches/{batch_id}/report", {
  params: { path: { batch_id: batch.id } },
});
demand(summed.data && typeof summed.data === "object" && "scored" in summed.data, "no report came");
demand(summed.data.metric === "hatexscore", summed.data.metric);
console.log(`fetch batch: ${batch.request_counts.completed} lines, ${summed.data.parts?.htc?.mean.value}`);

const refused = await client.POST("/v1/scores/{metric}", { params: { path: { metric: "ice" } }, body: { seed: -1 } as Schemas["IceRequest"] });
demand(refused.error?.status === 422, `${refused.response.status}`);
console.log(`fetch refused: ${refused.error.errors?.[0]?.pointer}`);
