import effectEslint from "@effect/eslint-plugin"
import jsdoc from "eslint-plugin-jsdoc"
import sortDestructureKeys from "eslint-plugin-sort-destructure-keys"
import tseslint from "typescript-eslint"

// The rules of Effect's own repositories. The formatter is dprint, run as a rule.
export default tseslint.config(
  {
    ignores: [
      "**/dist",
      "tools/site/.vitepress/.temp",
      "packages/*/bundle",
      "**/coverage",
      "packages/*/test/.documents",
      // Written by others, and not changed.
      "tools/foreign-clients/clients"
    ]
  },
  ...tseslint.configs.strict,
  ...effectEslint.configs.dprint,
  {
    files: ["**/*.{ts,tsx,mts,mjs}"],
    plugins: { "sort-destructure-keys": sortDestructureKeys },
    rules: {
      "no-console": "error",
      "object-shorthand": "error",
      // Names that say nothing about the value, or are not the field's term. `pnpm prose` checks texts.
      "id-denylist": [
        "error",
        ...["told", "asked", "said", "stranger", "strangers", "embargo", "setback", "likeness", "undisclosed", "mend"]
      ],
      "prefer-destructuring": "off",
      "no-restricted-syntax": ["error", {
        selector: "CallExpression[callee.property.name=\"push\"] > SpreadElement.arguments",
        message: "Do not use spread arguments in Array.push: a long array overflows the stack"
      }, {
        selector: "TryStatement",
        message: "Use Effect.try or Either.try"
      }, {
        selector: ":function[async=true]",
        message: "Use Effect.gen"
      }, {
        selector: "MemberExpression[object.name=\"process\"][property.name=\"env\"]",
        message: "Use Config"
      }],
      "sort-destructure-keys/sort-destructure-keys": "error",
      "@typescript-eslint/array-type": ["warn", { default: "generic", readonly: "generic" }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-extraneous-class": "off",
      "@typescript-eslint/no-invalid-void-type": "off",
      "@typescript-eslint/unified-signatures": "off",
      "@effect/dprint": ["error", {
        config: {
          indentWidth: 2,
          lineWidth: 120,
          semiColons: "asi",
          quoteStyle: "alwaysDouble",
          trailingCommas: "never",
          operatorPosition: "maintain",
          "arrowFunction.useParentheses": "force"
        }
      }]
    }
  },
  {
    // The example of a client and its tests without Effect, and the recipes for frameworks with promises. The
    // configuration of VitePress, which is not an Effect program. A benchmark that uses both versions of Effect.
    files: [
      "packages/examples/src/{contract-testing/plain,recipes}/**",
      "tools/site/.vitepress/**",
      "packages/effect-4/bench.mjs"
    ],
    rules: { "no-restricted-syntax": "off", "no-console": "off" }
  },
  {
    // What is exported to users has a docstring, from which docs/reference is made.
    files: ["packages/{core,contract,mock-server,rescreening,effect-4}/src/*.ts"],
    plugins: { jsdoc },
    rules: {
      "jsdoc/require-jsdoc": ["error", {
        publicOnly: { esm: true, cjs: false, window: false },
        require: { ClassDeclaration: true, FunctionDeclaration: true },
        contexts: [
          "ExportNamedDeclaration > VariableDeclaration",
          "ExportNamedDeclaration > TSInterfaceDeclaration",
          "ExportNamedDeclaration > TSTypeAliasDeclaration",
          "ExportNamespaceSpecifier"
        ],
        enableFixer: false
      }]
    }
  }
)
