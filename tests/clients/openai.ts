// OpenAI's SDK: the words of our refusals, no second try of what is final, models, a batch.
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import OpenAI, { toFile } from "openai";

const [url, examples, key, hasty] = process.argv.slice(2) as [string, string, string, string];
const body = JSON.parse(readFileSync(examples, "utf8")).hatexscore;
const SCORE = "/scores/hatexscore";
let calls = 0;

function clientOf(apiKey: string, maxRetries = 2): OpenAI {
  const counted: typeof fetch = (...asked) => {
    calls += 1;
    return fetch(...asked);
  };
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries, fetch: counted });
}

function demand(holds: unknown, what: string): asserts holds {
  if (!holds) throw new Error(what);
}

async function refused(status: number, code: string, asked: () => Promise<unknown>): Promise<void> {
  calls = 0;
  try {
    await asked();
  } catch (error) {
    demand(error instanceof OpenAI.APIError, `${error}`);
    demand(error.status === status && error.code === code, `${error.status} ${error.code}`);
    demand(error.requestID && !error.message.includes("no body"), error.message);
    demand(calls === 1, `${status}: ${calls} calls`);
    console.log(`openai: ${error.message}`);
    return;
  }
  throw new Error(`${code} was not refused`);
}

const openai = clientOf(key);
const wrong = clientOf("a-key-that-is-none");
const once = clientOf(hasty, 0);

const names = (await openai.models.list()).data.map((model) => model.id);
demand(names.length > 0, "no models");
console.log(`openai models: ${names.length}`);

const lines = ["a", "b"].map((custom_id) =>
  JSON.stringify({ custom_id, method: "POST", url: "/v1/scores/hatexscore", body }),
);
const file = await openai.files.create({
  file: await toFile(Buffer.from(`${lines.join("\n")}\n`), "posts.jsonl"),
  purpose: "batch",
});
let batch = await openai.batches.create({
  input_file_id: file.id,
  endpoint: "/v1/scores/hatexscore" as "/v1/responses", // its type knows OpenAI's own alone
  completion_window: "24h",
});
while (batch.status !== "completed") {
  demand(!["failed", "expired", "cancelled"].includes(batch.status), batch.status);
  await sleep(500);
  batch = await openai.batches.retrieve(batch.id);
}
demand(batch.output_file_id, "nothing came out");
const output = await (await openai.files.content(batch.output_file_id)).text();
const answered = output.trim().split("\n").map((line) => JSON.parse(line).custom_id);
demand(answered.sort().join() === "a,b", answered.join());
console.log(`openai batch: ${batch.request_counts?.completed} lines`);

await refused(401, "unauthenticated", () => wrong.models.list());
await refused(404, "unknown-batch", () => openai.batches.retrieve("batch_nobodys"));
await refused(409, "already-final", () => openai.batches.cancel(batch.id));
await refused(422, "invalid-request", () => openai.post(SCORE, { body: { text: "a" } }));
await once.models.list();
await refused(429, "quota-exceeded", () => once.models.list());
