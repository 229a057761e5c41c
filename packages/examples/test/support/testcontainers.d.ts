/** The part of `testcontainers` that docs/mock-server.md uses. The package itself is not installed. */
declare module "testcontainers" {
  export class GenericContainer {
    constructor(image: string)
    withExposedPorts(...ports: ReadonlyArray<number>): this
    withEnvironment(environment: Record<string, string>): this
    withCommand(command: Array<string>): this
    withWaitStrategy(strategy: WaitStrategy): this
    start(): Promise<StartedTestContainer>
  }

  export interface StartedTestContainer {
    getHost(): string
    getMappedPort(port: number): number
    stop(): Promise<unknown>
  }

  export interface WaitStrategy {
    withStartupTimeout(millis: number): this
  }

  export const Wait: { forHttp(path: string, port: number): WaitStrategy }
}
