/** Writes tables and plots of the committed page from a file of results. */
export async function publish(_out: string, _folder: string): Promise<void> {
  throw new Error("not yet");
}
