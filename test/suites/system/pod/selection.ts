/**
 * Files of the system suite that the pod's suite leaves out, and why; it runs all others, with each of their programs as its container
 * of the chart's pod: the image that is shipped, and the user, the privileges and the memory that the chart gives it.
 */
export const NOT_IN_POD: Readonly<Record<string, string>> = {
  "bad-input": "is about what a process says of arguments and files that are wrong, before anything of a pod counts",
  leadership: "asserts how soon another replica leads, within what a process takes to start",
  "leadership-handover": "asserts how soon another replica leads, within what a process takes to start",
  "leadership-provider": "asserts how soon another replica leads, within what a process takes to start",
};
