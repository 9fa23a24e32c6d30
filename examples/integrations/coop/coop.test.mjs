// `node --test coop.test.mjs`, after `npm run build`: the plugin against a service that answers as ours does.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import plugin, { mapping, NoSignal, requestOf, signalType } from "./dist/index.js";

const asked = [];
let answer, server, config;
before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += piece));
    request.on("end", () => {
      asked.push({ url: request.url, headers: request.headers, body: JSON.parse(body) });
      response.writeHead(answer.status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(answer.body));
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  config = { url: `http://127.0.0.1:${server.address().port}/`, apiKey: "ts_key" };
});
after(() => server.close());

const signals = () =>
  plugin.createSignals({ integrationId: "TOUCHSTONE", getCredential: async () => config });
const run = (metric, data) =>
  signals().find((one) => one.signalTypeId === signalType(metric)).signal.run({ orgId: "o", value: { data } });
const DATA = { text: "a post", explanation: "because" };

test("one signal a metric, each with its card", () => {
  const cards = JSON.parse(readFileSync(new URL("cards.json", import.meta.url), "utf8"));
  assert.deepEqual(signals().map((one) => one.signalTypeId), Object.keys(cards).map(signalType));
  assert.deepEqual(plugin.manifest.signalTypeIds, signals().map((one) => one.signalTypeId));
  const ids = plugin.manifest.modelCard.sections.map((section) => section.id);
  for (const id of ["trainingData", "policyAndTaxonomy", "annotationMethodology", "performanceBenchmarks",
    "biasAndLimitations", "implementationGuidance", "relevantLinks", "modelDetails", "technicalIntegration"]) {
    assert.ok(ids.includes(id), id);
  }
  for (const section of plugin.manifest.modelCard.sections)
    for (const field of section.fields) assert.ok(field.value.length > 10, `${section.title}: ${field.label}`);
});

test("a score is the signal", async () => {
  answer = { status: 200, body: { status: "succeeded", result: { score: 0.75, reason: "" } } };
  const found = await run("hatexscore", DATA);
  assert.deepEqual(found, { outputType: { scalarType: "NUMBER" }, score: 0.75 });
  const last = asked.at(-1);
  assert.equal(last.url, "/v1/scores/hatexscore");
  assert.equal(last.headers.prefer, "wait=10");
  assert.equal(last.headers.authorization, "Bearer ts_key");
  assert.deepEqual(last.body, DATA);
});

for (const [name, status, body, says] of [
  ["undefined", 200, { status: "succeeded", result: { score: null, reason: "the language is zh" } }, /zh/],
  ["late", 202, { status: "running", result: null }, /10 seconds/],
  ["failed", 200, { status: "failed", result: null, error: { detail: "too long" } }, /too long/],
  ["refused", 401, { status: 401, error: { message: "no such key" } }, /no such key/],
]) {
  test(`${name}: no signal rather than a guess`, async () => {
    answer = { status, body };
    await assert.rejects(run("hatexscore", DATA), (error) => error instanceof NoSignal && says.test(error.message));
  });
}

test("a service that is away, an item without explanation", async () => {
  const good = config;
  config = { url: "http://127.0.0.1:1", apiKey: "k" };
  await assert.rejects(run("hatexscore", DATA), NoSignal);
  config = good;
  assert.throws(() => requestOf({ text: "a" }, {}), NoSignal);
});

test("fields of an item by other names", () => {
  const named = mapping("text=body, explanation = why,broken");
  assert.deepEqual(named, { text: "body", explanation: "why" });
  assert.deepEqual(requestOf({ body: "a", why: "b", secret: "c" }, named), { text: "a", explanation: "b" });
});

test("it is disabled until it has an address and a key", async () => {
  const [first] = plugin.createSignals({ integrationId: "T", getCredential: async () => ({}) });
  assert.equal((await first.signal.getDisabledInfo("o")).disabled, true);
  assert.equal((await signals()[0].signal.getDisabledInfo("o")).disabled, false);
});
