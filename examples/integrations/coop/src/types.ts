/**
 * What Coop's `@roostorg/types` (2.x) asks of a plugin, as far as this one uses it. With that package
 * installed, import the types from it and delete this file.
 */
export type Field = Readonly<{ label: string; value: string }>;
export type Section = Readonly<{ id: string; title: string; fields: readonly Field[] }>;
export type ModelCard = Readonly<{ modelName: string; version: string; sections: readonly Section[] }>;

export type ConfigField = Readonly<{
  key: string;
  label: string;
  required: boolean;
  inputType: "text" | "password";
  placeholder?: string;
  description: string;
}>;

export type Manifest = Readonly<{
  id: string;
  name: string;
  version: string;
  description: string;
  docsUrl: string;
  requiresConfig: boolean;
  configurationFields: readonly ConfigField[];
  signalTypeIds: readonly string[];
  modelCard: ModelCard;
}>;

export type SignalContext = Readonly<{
  integrationId: string;
  getCredential: (orgId: string) => Promise<Record<string, unknown>>;
}>;

export type Disabled = { disabled: false } | { disabled: true; disabledMessage: string };

export type Signal = Readonly<{
  id: { type: string };
  displayName: string;
  description: string;
  docsUrl: string | null;
  recommendedThresholds: { highPrecisionThreshold: number; highRecallThreshold: number } | null;
  supportedLanguages: readonly string[] | "ALL";
  pricingStructure: { type: "FREE" };
  eligibleInputs: readonly string[];
  outputType: { scalarType: "NUMBER" };
  getCost: () => number;
  run: (input: unknown) => Promise<{ outputType: { scalarType: "NUMBER" }; score: number }>;
  getDisabledInfo: (orgId: string) => Promise<Disabled>;
  needsMatchingValues: boolean;
  eligibleSubcategories: readonly [];
  needsActionPenalties: boolean;
  integration: string;
  allowedInAutomatedRules: boolean;
}>;
