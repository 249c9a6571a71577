// Work with what other packages made: an exception in it is told and ends here, for one in a callback would end Pi.

export type Attempt = <T>(work: () => T) => T | undefined;

/** `what`: named before the message. */
export function careful(what: string, fault: (message: string) => void): Attempt {
  return (work) => {
    try {
      return work();
    } catch (error) {
      fault(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  };
}
