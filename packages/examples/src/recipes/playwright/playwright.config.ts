import { defineConfig, devices } from "@playwright/test"

const { APP_PORT = "3000", CHROMIUM_PATH, MOCK = "npx idv-mock", MOCK_PORT = "4010" } = process.env
const mockUrl = `http://127.0.0.1:${MOCK_PORT}`

export default defineConfig({
  testDir: ".",
  outputDir: "../../../node_modules/.cache/playwright",
  reporter: "line",
  use: {
    ...devices["Desktop Chrome"],
    baseURL: `http://127.0.0.1:${APP_PORT}`,
    // Without a path, the browser of `npx playwright install chromium`.
    launchOptions: { args: ["--no-sandbox"], ...CHROMIUM_PATH !== undefined && { executablePath: CHROMIUM_PATH } }
  },
  // Playwright starts both before the tests, waits until they respond, and stops them at the end.
  webServer: [
    { command: `${MOCK} serve --port ${MOCK_PORT}`, url: `${mockUrl}/_mock/ready` },
    {
      command: "node --import tsx/esm ../express/main.ts",
      url: `http://127.0.0.1:${APP_PORT}`,
      env: {
        PORT: APP_PORT,
        IDV_AUTH_URL: mockUrl,
        IDV_BASE_URL: mockUrl,
        IDV_CUSTOMER_ID: "demo-customer",
        IDV_CUSTOMER_KEY: "demo-key"
      }
    }
  ]
})
