/**
 * Scores of explanations as signals of Coop: one a metric, over the fields of an item.
 *
 * There is no signal rather than a guess: where the score is undefined, the service is away or takes
 * longer than ten seconds, `run` throws, and the rule does not apply.
 */
import { readFileSync } from "node:fs";
import type { Manifest, ModelCard, Signal, SignalContext } from "./types.js";

type Card = { name: string; question: string; purpose: string; input: string; output: string;
  limitations: string; requirements: string; practices: string; reference: string };

/** Made by `make reference` from the metrics' own cards. */
const CARDS = JSON.parse(
  readFileSync(new URL("../cards.json", import.meta.url), "utf-8"),
) as Record<string, Card>;
const INTEGRATION = "TOUCHSTONE";
const DOCS = "https://touchstone.example/guide/integrations";
const WAIT_SECONDS = 10;

export const signalType = (metric: string): string => `TOUCHSTONE_${metric.toUpperCase()}`;

const said = (key: keyof Card) =>
  Object.values(CARDS).map((card) => ({ label: card.name, value: card[key] }));

const modelCard: ModelCard = {
  modelName: "Touchstone",
  version: "0.1.0",
  sections: [
    { id: "modelDetails", title: "Purpose", fields: said("purpose") },
    { id: "technicalIntegration", title: "Input", fields: said("input") },
    { id: "policyAndTaxonomy", title: "Output", fields: said("output") },
    { id: "trainingData", title: "Requirements", fields: said("requirements") },
    { id: "biasAndLimitations", title: "Limitations", fields: said("limitations") },
    { id: "implementationGuidance", title: "Best practices", fields: said("practices") },
    { id: "annotationMethodology", title: "Questions", fields: said("question") },
    {
      id: "performanceBenchmarks",
      title: "Performance",
      fields: [{ label: "Measured", value: "bench/RESULTS.md of the repository has every figure." }],
    },
    { id: "relevantLinks", title: "References", fields: said("reference") },
  ],
};

export const manifest: Manifest = {
  id: INTEGRATION,
  name: "Touchstone",
  version: "0.1.0",
  description: "How good the explanation is that a model gave for its decision.",
  docsUrl: DOCS,
  requiresConfig: true,
  configurationFields: [
    { key: "url", label: "Address", required: true, inputType: "text",
      placeholder: "https://touchstone.example", description: "of your Touchstone service" },
    { key: "apiKey", label: "API key", required: true, inputType: "password",
      description: "with the scope score" },
    { key: "fields", label: "Fields", required: false, inputType: "text",
      placeholder: "text=body, explanation=model_reason",
      description: "which field of an item is which of a request, where names differ" },
  ],
  signalTypeIds: Object.keys(CARDS).map(signalType),
  modelCard,
};

/** There is none, and why. */
export class NoSignal extends Error {}

/** "text=body, explanation=why" → {text: "body", explanation: "why"}. */
export function mapping(said: unknown): Record<string, string> {
  const pairs = String(said ?? "").split(",").map((pair) => pair.split("=").map((word) => word.trim()));
  return Object.fromEntries(pairs.filter((pair) => pair.length === 2 && pair[0] && pair[1]));
}

/** The request: of the item's data, the fields that are named, or have a request's own names. */
export function requestOf(data: Record<string, unknown>, named: Record<string, string>): Record<string, unknown> {
  const names = Object.keys(named).length ? named : { text: "text", explanation: "explanation" };
  const found = Object.entries(names).map(([field, column]) => [field, data[column]] as const);
  const missing = found.filter(([, value]) => value === undefined || value === null || value === "");
  if (missing.length) throw new NoSignal(`the item has no ${missing.map(([field]) => field).join(", ")}`);
  return Object.fromEntries(found);
}

async function scored(metric: string, request: unknown, config: Record<string, unknown>): Promise<number> {
  const url = String(config.url ?? "").replace(/\/+$/, "");
  let answer: Response;
  try {
    answer = await fetch(`${url}/v1/scores/${metric}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Prefer: `wait=${WAIT_SECONDS}`,
        Authorization: `Bearer ${String(config.apiKey ?? "")}`,
      },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout((WAIT_SECONDS + 2) * 1000),
    });
  } catch (error) {
    throw new NoSignal(`the service is away: ${String(error)}`);
  }
  const body = (await answer.json()) as {
    status?: string | number; detail?: string; error?: { detail?: string; message?: string } | null;
    result?: { score: number | null; reason: string } | null;
  };
  if (!answer.ok) throw new NoSignal(body.error?.message ?? `the service said ${answer.status}`);
  if (body.status !== "succeeded" || !body.result) {
    throw new NoSignal(body.error?.detail ?? `not scored within ${WAIT_SECONDS} seconds`);
  }
  if (body.result.score === null) throw new NoSignal(body.result.reason);
  return body.result.score;
}

function dataOf(input: unknown): Record<string, unknown> {
  const value = (input as { value?: unknown }).value ?? {};
  const data = (value as { data?: unknown }).data ?? (value as { value?: unknown }).value ?? value;
  return data as Record<string, unknown>;
}

function signal(metric: string, card: Card, context: SignalContext): Signal {
  const outputType = { scalarType: "NUMBER" } as const;
  return {
    id: { type: signalType(metric) },
    displayName: `Explanation: ${card.name}`,
    description: card.question,
    docsUrl: DOCS,
    recommendedThresholds: null, // what is low depends on the model: look at your own distribution
    supportedLanguages: "ALL", // what a model did not learn is no signal, and says so
    pricingStructure: { type: "FREE" },
    eligibleInputs: ["FULL_ITEM"],
    outputType,
    getCost: () => 1,
    needsMatchingValues: false,
    eligibleSubcategories: [],
    needsActionPenalties: false,
    integration: context.integrationId,
    allowedInAutomatedRules: true,
    async run(input) {
      const config = await context.getCredential((input as { orgId: string }).orgId);
      const request = requestOf(dataOf(input), mapping(config.fields));
      return { outputType, score: await scored(metric, request, config) };
    },
    async getDisabledInfo(orgId) {
      const config = await context.getCredential(orgId);
      if (config?.url && config?.apiKey) return { disabled: false };
      return { disabled: true, disabledMessage: "Give the address and the API key of your Touchstone service." };
    },
  };
}

export function createSignals(context: SignalContext) {
  return Object.entries(CARDS).map(([metric, card]) => ({
    signalTypeId: signalType(metric),
    signal: signal(metric, card, context),
  }));
}

export default { manifest, createSignals };
