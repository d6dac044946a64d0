export * from '@isthmus/sdk/cluster';
