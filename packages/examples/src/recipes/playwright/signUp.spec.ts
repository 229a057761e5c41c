import { expect, type Page, test } from "@playwright/test"

const signUp = async (page: Page, name: string) => {
  await page.goto("/")
  await page.getByLabel("Full name").fill(name)
  await page.getByLabel("Date of birth").fill("1990-02-01")
  await page.getByRole("button", { name: "Sign up" }).click()
  return page.getByRole("main").innerText()
}

test("welcomes a person who is on no list", async ({ page }) => {
  expect(await signUp(page, "Ada Testclear")).toContain("Welcome")
})

// The last word of a name selects the response of the mock server.
test("shows the same page for a potential match and for an outage", async ({ page }) => {
  const match = await signUp(page, "Zoë Testpep")
  expect(match).toContain("We will write to you")
  expect(await signUp(page, "Zoë Test503")).toBe(match)
})
